#include <roost/base/detail/write_stderr.hpp>

#include <roost/base/atomic.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdio>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

// One thread of Roost writes at a time, so that no other write fills the room that a poll has seen.
//
// id  operation   order    pairs  carries                               fails in
// T1  all of it   seq_cst  -      the turn to write, and statistics     (no model: it stands around system calls)

namespace roost::inline ROOST_ABI::detail {

#if defined(ROOST_SEAM_MODEL)

bool write_stderr(std::string_view text, duration /*limit*/) noexcept {
    return std::fwrite(text.data(), 1, text.size(), stderr) == text.size();
}
std::uint64_t stderr_texts_dropped() noexcept { return 0; }

#else

namespace {

constinit atomic<std::uint32_t> turn{
    0};  // the process of the thread that writes: a forked child does not wait for its parent's
constinit atomic<bool> stuck{false};      // true if the last text was not written
constinit atomic<std::uint64_t> dropped{0};
constinit atomic<std::uint64_t> dropped_and_printed{0};

// Opens the pipe or terminal again: O_NONBLOCK belongs to the open file description, which other processes share.
class reopened_stderr {
public:
    reopened_stderr() noexcept {
        struct stat what{};
        if (::fstat(STDERR_FILENO, &what) != 0) {
            kind_ = kind::none;
        } else if (S_ISREG(what.st_mode)) {
            kind_ = kind::file;
        } else if (S_ISSOCK(what.st_mode)) {
            kind_ = kind::socket;
        } else {
            fd_ = ::open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
            kind_ = fd_ >= 0 ? kind::opened : kind::polled;
        }
    }
    reopened_stderr(const reopened_stderr&) = delete;
    reopened_stderr& operator=(const reopened_stderr&) = delete;
    ~reopened_stderr() {
        if (fd_ >= 0) {
            ::close(fd_);
        }
    }

    // Returns the number of bytes written; 0 if there is no room; -1 if it will never take any.
    [[nodiscard]] ssize_t put(const char* text, std::size_t size) const noexcept {
        for (;;) {
            const ssize_t n = try_put(text, size);
            if (n >= 0) {
                return n;
            }
            if (errno == EAGAIN || errno == EWOULDBLOCK) {
                return 0;
            }
            if (errno != EINTR) {
                return -1;
            }
        }
    }

private:
    enum class kind : unsigned char { none, file, socket, opened, polled };
    // A pipe that polls as writable takes this much at once; a terminal takes it without waiting for its reader.
    static constexpr std::size_t taken_at_once = 256;

    [[nodiscard]] ssize_t try_put(const char* text, std::size_t size) const noexcept {
        switch (kind_) {
            case kind::none: errno = EBADF; return -1;
            case kind::file: return ::write(STDERR_FILENO, text, size);
            case kind::socket: return ::send(STDERR_FILENO, text, size, MSG_DONTWAIT | MSG_NOSIGNAL);
            default: break;
        }
        pollfd room{STDERR_FILENO, POLLOUT, 0};
        ::poll(&room, 1, 0);
        if ((room.revents & POLLERR) != 0) {
            errno = EPIPE;  // no reader is left: a write would raise SIGPIPE
            return -1;
        }
        if (kind_ == kind::opened) {
            return ::write(fd_, text, size);
        }
        if ((room.revents & POLLOUT) != 0) {
            return ::write(STDERR_FILENO, text, std::min(size, taken_at_once));
        }
        errno = EAGAIN;
        return -1;
    }

    kind kind_ = kind::none;
    int fd_ = -1;
};

void wait_for_room(time_point until) noexcept {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - now()).count() + 1;
    pollfd room{STDERR_FILENO, POLLOUT, 0};
    ::poll(&room, 1, static_cast<int>(std::clamp<std::int64_t>(left, 1, 1000)));
}

bool put_all(const reopened_stderr& to, std::string_view text, time_point until) noexcept {
    while (!text.empty()) {
        const ssize_t n = to.put(text.data(), text.size());
        if (n < 0 || (n == 0 && now() >= until)) {
            return false;
        }
        if (n == 0) {
            wait_for_room(until);
        }
        text.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
}

// Writes a line with the number of texts dropped since the last such line. Returns false if it was not written.
bool print_dropped(const reopened_stderr& to, time_point until) noexcept {
    const std::uint64_t count = dropped.load(mo::seq_cst);  // T1
    const std::uint64_t unprinted = count - dropped_and_printed.load(mo::seq_cst);  // T1
    if (unprinted == 0) {
        return true;
    }
    constexpr std::string_view head = "roost: standard error was blocked: ";
    constexpr std::string_view tail = " earlier message(s) dropped\n";
    char line[head.size() + 20 + tail.size()];
    char* at = std::copy(head.begin(), head.end(), line);
    at = std::to_chars(at, at + 20, unprinted).ptr;
    at = std::copy(tail.begin(), tail.end(), at);
    if (!put_all(to, std::string_view(line, static_cast<std::size_t>(at - line)), until)) {
        return false;
    }
    dropped_and_printed.store(count, mo::seq_cst);  // T1
    return true;
}

bool take_turn(time_point until) noexcept {
    const auto me = static_cast<std::uint32_t>(::getpid());
    for (std::uint32_t seen = 0;;) {
        if (turn.compare_exchange_strong(seen, me, mo::seq_cst, mo::seq_cst)) {  // T1
            return true;
        }
        if (seen == me) {
            if (now() >= until) {
                return false;
            }
            wait_briefly(turn, me);
            seen = 0;
        }
    }
}

}  // namespace

bool write_stderr(std::string_view text, duration limit) noexcept {
    const int before = errno;
    const time_point until = stuck.load(mo::seq_cst) ? time_point::min() : deadline_after(now(), limit);  // T1
    // Another thread may be writing: wait for it briefly instead of dropping the text.
    constexpr duration moment = std::chrono::milliseconds(5);
    bool taken = false;
    if (take_turn(std::max(until, deadline_after(now(), moment)))) {
        const reopened_stderr to;
        taken = print_dropped(to, until) && put_all(to, text, until);
        turn.store(0, mo::seq_cst);  // T1
    }
    stuck.store(!taken, mo::seq_cst);  // T1
    if (!taken) {
        dropped.fetch_add(1, mo::seq_cst);  // T1
    }
    errno = before;
    return taken;
}

std::uint64_t stderr_texts_dropped() noexcept { return dropped.load(mo::seq_cst); }  // T1

#endif

}  // namespace roost::inline ROOST_ABI::detail
