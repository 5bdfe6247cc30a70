#include <roost/io/detail/bound_path.hpp>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace roost::inline ROOST_ABI::io::detail {

namespace {

// The path with a zero byte behind it.
class path_text {
public:
    explicit path_text(const endpoint& at) noexcept {
        if (at.family() == AF_UNIX && at.size() > offsetof(sockaddr_un, sun_path)) {
            std::memcpy(text_, reinterpret_cast<const sockaddr_un*>(at.data())->sun_path,
                        at.size() - offsetof(sockaddr_un, sun_path));
        }
    }
    [[nodiscard]] bool is_file() const noexcept { return text_[0] != '\0'; }
    [[nodiscard]] const char* c_str() const noexcept { return text_; }

private:
    char text_[sizeof(sockaddr_un::sun_path) + 1] = "";
};

bool is_listened_on(const endpoint& at) noexcept {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return true;  // not known
    }
    const bool is_refused = ::connect(fd, at.data(), static_cast<socklen_t>(at.size())) != 0 && errno == ECONNREFUSED;
    ::close(fd);
    return !is_refused;
}

}  // namespace

path_lock::path_lock(const endpoint& at) noexcept {
    const path_text path(at);
    if (!path.is_file()) {
        return;
    }
    const std::string_view all(path.c_str());
    const std::size_t slash = all.rfind('/');
    char folder[sizeof(sockaddr_un::sun_path) + 1] = ".";
    if (slash != std::string_view::npos) {
        all.copy(folder, slash == 0 ? 1 : slash);
    }
    directory_ = ::open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int tries = 0; directory_ >= 0 && tries < 100; ++tries) {
        if (::flock(directory_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) {
            return;
        }
        ::poll(nullptr, 0, 1);  // the others hold it for a few system calls
    }
}

path_lock::~path_lock() {
    if (directory_ >= 0) {
        ::close(directory_);
    }
}

bound_path::bound_path(const endpoint& at) noexcept : at_(at) {
    struct stat file{};
    const path_text path(at);
    if (path.is_file() && ::stat(path.c_str(), &file) == 0) {
        device_ = file.st_dev;
        inode_ = file.st_ino;
        process_ = ::getpid();
    }
}

void bound_path::remove() noexcept {
    if (std::exchange(process_, 0) != ::getpid()) {
        return;
    }
    struct stat file{};
    const path_text path(at_);
    if (::stat(path.c_str(), &file) == 0 && file.st_dev == device_ && file.st_ino == inode_) {
        ::unlink(path.c_str());
    }
}

bool bound_path::remove_stale(const endpoint& at) noexcept {
    const path_text path(at);
    if (!path.is_file()) {
        return false;
    }
    struct stat file{};
    if (::lstat(path.c_str(), &file) != 0) {
        return errno == ENOENT;
    }
    return S_ISSOCK(file.st_mode) && !is_listened_on(at) && ::unlink(path.c_str()) == 0;
}

}  // namespace roost::inline ROOST_ABI::io::detail
