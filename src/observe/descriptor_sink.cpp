#include <roost/observe/detail/descriptor_sink.hpp>

#include <roost/base/atomic.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace roost::inline ROOST_ABI::detail {

namespace {

// A pipe that polls as writable takes this much at once.
constexpr std::size_t taken_at_once = 4096;

::sigset_t only_sigpipe() noexcept {
    ::sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGPIPE);
    return set;
}

// Writes "/proc/self/fd/N" without the help of functions that a signal handler must not call.
void write_path(char (&to)[32], int descriptor) noexcept {
    constexpr char head[] = "/proc/self/fd/";
    std::memcpy(to, head, sizeof head - 1);
    char digits[12];
    std::size_t count = 0;
    do {
        digits[count++] = static_cast<char>('0' + descriptor % 10);
        descriptor /= 10;
    } while (descriptor > 0);
    char* at = to + sizeof head - 1;
    while (count > 0) {
        *at++ = digits[--count];
    }
    *at = '\0';
}

}  // namespace

descriptor_sink::descriptor_sink(int descriptor, duration limit) noexcept
    : fd_(descriptor), until_(deadline_after(now(), limit)) {
    const ::sigset_t sigpipe = only_sigpipe();
    ::sigset_t pending;
    ::sigpending(&pending);
    had_sigpipe_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::sigprocmask(SIG_BLOCK, &sigpipe, &mask_);  // on Linux of the calling thread
    struct stat what{};
    if (fd_ < 0 || ::fstat(fd_, &what) != 0) {
        error_ = EBADF;
    } else if ((::fcntl(fd_, F_GETFL) & O_ACCMODE) == O_RDONLY) {  // opening it again would make it writable
        error_ = EBADF;
    } else if (S_ISREG(what.st_mode)) {
        kind_ = kind::file;
    } else if (S_ISSOCK(what.st_mode)) {
        kind_ = kind::socket;
    } else if ((::fcntl(fd_, F_GETFL) & O_NONBLOCK) == 0) {
        char path[32];
        write_path(path, fd_);
        own_ = ::open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    }
}

descriptor_sink::~descriptor_sink() {
    if (own_ >= 0) {
        ::close(own_);
    }
    if (error_ == EPIPE && !had_sigpipe_) {  // take back the signal that the write has raised
        const ::sigset_t sigpipe = only_sigpipe();
        const ::timespec at_once{0, 0};
        while (::sigtimedwait(&sigpipe, nullptr, &at_once) < 0 && errno == EINTR) {}
    }
    ::sigprocmask(SIG_SETMASK, &mask_, nullptr);
}

bool descriptor_sink::take(const void* bytes, std::size_t size) noexcept {
    const char* from = static_cast<const char*>(bytes);
    while (error_ == 0 && size > 0) {
        if (used_ == 0 && size >= sizeof buffer_) {
            return put(from, size);
        }
        const std::size_t now = std::min(size, sizeof buffer_ - used_);
        std::memcpy(buffer_ + used_, from, now);
        used_ += now;
        from += now;
        size -= now;
        if (used_ == sizeof buffer_ && !flush()) {
            return false;
        }
    }
    return error_ == 0;
}

bool descriptor_sink::flush() noexcept { return error_ == 0 && put(buffer_, std::exchange(used_, 0)); }

bool descriptor_sink::put(const char* bytes, std::size_t size) noexcept {
    while (size > 0) {
        const long n = put_some(bytes, size);
        if (n > 0) {
            bytes += n;
            size -= static_cast<std::size_t>(n);
            bytes_ += static_cast<std::uint64_t>(n);
        } else if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
            error_ = errno;
            return false;
        } else if (!wait_for_room()) {
            error_ = ETIMEDOUT;
            return false;
        }
    }
    return true;
}

long descriptor_sink::put_some(const char* bytes, std::size_t size) const noexcept {
    if (kind_ == kind::file) {
        return ::write(fd_, bytes, size);
    }
    if (kind_ == kind::socket) {
        return ::send(fd_, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    if (own_ >= 0) {
        return ::write(own_, bytes, size);
    }
    pollfd room{fd_, POLLOUT, 0};
    if (::poll(&room, 1, 0) != 1 || (room.revents & POLLOUT) == 0) {
        errno = (room.revents & POLLERR) != 0 ? EPIPE : EAGAIN;
        return -1;
    }
    return ::write(fd_, bytes, std::min(size, taken_at_once));
}

bool descriptor_sink::wait_for_room() const noexcept {
    const time_point at = now();
    if (at >= until_) {
        return false;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until_ - at).count() + 1;
    pollfd room{fd_, POLLOUT, 0};
    ::poll(&room, 1, static_cast<int>(std::clamp<std::int64_t>(left, 1, 100)));
    return true;
}

}  // namespace roost::inline ROOST_ABI::detail
