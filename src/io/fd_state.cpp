// Orders F1 and F2: io/detail/fd_state.hpp.

#include <roost/io/detail/fd_state.hpp>

#include <roost/io/error.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <new>
#include <utility>

#include <poll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define ROOST_WATCHED_CALLS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define ROOST_WATCHED_CALLS 1
#endif
#endif

namespace roost::inline ROOST_ABI::io::detail {

using namespace seam;

namespace {

// The C library's recv and send are points of thread cancellation, which costs as much again as the rest of the call outside
// the kernel. No thread of an executor is ever cancelled that way. Sanitizers watch the library's functions.
ssize_t receive(int fd, void* to, std::size_t size) noexcept {
#if defined(ROOST_WATCHED_CALLS)
    return ::recv(fd, to, size, 0);
#else
    return ::syscall(SYS_recvfrom, fd, to, size, 0, nullptr, nullptr);
#endif
}
ssize_t send(int fd, const void* from, std::size_t size) noexcept {
#if defined(ROOST_WATCHED_CALLS)
    return ::send(fd, from, size, MSG_NOSIGNAL);
#else
    return ::syscall(SYS_sendto, fd, from, size, MSG_NOSIGNAL, nullptr, 0);
#endif
}

// While it lives, a write to a pipe or socket that no one reads raises no signal in this thread. For calls without MSG_NOSIGNAL.
class pipe_signal_blocked {
public:
    pipe_signal_blocked() noexcept {
        ::sigemptyset(&pipe_);
        ::sigaddset(&pipe_, SIGPIPE);
        ::sigprocmask(SIG_BLOCK, &pipe_, &before_);  // Linux: of the calling thread
    }
    pipe_signal_blocked(const pipe_signal_blocked&) = delete;
    pipe_signal_blocked& operator=(const pipe_signal_blocked&) = delete;
    ~pipe_signal_blocked() {
        const int saved = errno;
        ::sigprocmask(SIG_SETMASK, &before_, nullptr);
        errno = saved;
    }
    // Returns the result of the call that was just made, and takes the signal back that it raised. A call that wrote less than
    // it was asked for may have raised it too: its reader went away in the middle.
    [[nodiscard]] moved after(ssize_t n, std::size_t asked) const noexcept {
        const moved result(n, errno);
        const bool may_be_raised = n < 0 ? result.why() == EPIPE : static_cast<std::size_t>(n) < asked;
        if (may_be_raised && ::sigismember(&before_, SIGPIPE) == 0) {
            const timespec at_once{};
            static_cast<void>(::sigtimedwait(&pipe_, nullptr, &at_once));
        }
        return result;
    }

private:
    sigset_t pipe_{};
    sigset_t before_{};
};

}  // namespace

// Free states. Lives as long as the process.
class fd_cache {
public:
    [[nodiscard]] static fd_state* take() {
        fd_cache& mine = instance();
        mine.lock_.lock();
        fd_state* first = mine.free_;
        if (first != nullptr) {
            mine.free_ = first->next_free_;
        }
        mine.lock_.unlock();
        return first != nullptr ? first : ::new (::operator new(sizeof(fd_state))) fd_state;
    }
    static void give_back(fd_state& s) noexcept {
        fd_cache& mine = instance();
        mine.lock_.lock();
        s.next_free_ = std::exchange(mine.free_, &s);
        mine.lock_.unlock();
    }

private:
    static fd_cache& instance() noexcept {
        static constinit fd_cache all;
        return all;
    }
    small_mutex lock_;
    fd_state* free_ = nullptr;
};

fd_state::fd_state() noexcept : pollable(true), event_source(&fd_state::happened) {}

fd_state* fd_state::make(int fd, fd_kind kind, bool owns, bool is_ready) {
    fd_state* s = fd_cache::take();
    s->open(is_ready);
    s->fd_ = fd;
    s->kind_ = kind;
    s->owns_ = owns;
    s->is_gone_ = false;
    s->set_label("");
    return s;
}

void fd_state::set_label(const char* text) noexcept {
    std::snprintf(name_, sizeof name_, *text == '\0' ? "fd %d" : "fd %d (%s)", fd_, text);
}

void fd_state::happened(ext::event_source& self, ext::io_events what) noexcept {
    auto& mine = static_cast<fd_state&>(self);
    if (what.is_readable() || what.is_ended()) {
        mine.at(direction::in).set(what.is_ended());
    }
    if (what.is_writable()) {
        mine.at(direction::out).set(what.is_ended());
    }
}

// Registered with one reactor at a time: that of the last executor on which an operation had to wait.
std::error_code fd_state::attach(executor_ref where, direction d) noexcept {
    ext::reactor* const wanted = where ? where->reactor() : nullptr;
    const auto& present = d == direction::in ? reactor_ : writer_;
    // Compared by address only: the one that is registered is counted, so its address is no other's.
    return wanted != nullptr && wanted == present.load(mo::seq_cst) ? std::error_code()
                                                                    : attach_anew(where, wanted, d);  // F1
}

std::error_code fd_state::attach_anew(executor_ref where, ext::reactor* wanted, direction d) noexcept {
    if (wanted == nullptr) {
        std::error_code why = std::make_error_code(std::errc::operation_not_supported);
        wanted = where ? where->make_reactor(why) : nullptr;
        if (wanted == nullptr) {
            return why;
        }
    }
    lock_.lock();
    const std::error_code result = is_gone_ ? make_error_code(errc::closed) : register_at(*wanted, d);
    lock_.unlock();
    return result;
}

// Called under the lock, as the next two. A direction that was registered once stays so: an operation may wait for it.
std::error_code fd_state::register_at(ext::reactor& wanted, direction d) noexcept {
    const bool writes = d == direction::out || writer_.load(mo::seq_cst) != nullptr;  // F1
    const bool stays = reactor_.load(mo::seq_cst) == &wanted;  // F1
    if (stays && (!writes || writer_.load(mo::seq_cst) != nullptr)) {  // F1
        return {};
    }
    if (!stays) {
        let_go();
    }
    const std::error_code result = writes ? wanted.watch(*this, fd_) : wanted.watch_reading(*this, fd_);
    if (!result) {
        if (!stays) {
            wanted.retain();
        }
        set_reactor(&wanted, writes ? &wanted : nullptr);
    }
    return result;
}

void fd_state::set_reactor(ext::reactor* reads, ext::reactor* writes) noexcept {
    reactor_.store(reads, mo::seq_cst);  // F2
    writer_.store(writes, mo::seq_cst);  // F2
}

// Also called by the last user.
void fd_state::let_go() noexcept {
    if (ext::reactor* r = reactor_.load(mo::seq_cst)) {  // F1
        if (fd_ >= 0) {
            r->forget(fd_);
        }
        set_reactor(nullptr, nullptr);
        r->release();
    }
}

// The kernel has taken the closed file out of its set. Taking the number out could hit another file.
void fd_state::forget_number() noexcept {
    lock_.lock();
    is_gone_ = true;
    ext::reactor* const left = reactor_.load(mo::seq_cst);  // F1
    set_reactor(nullptr, nullptr);
    lock_.unlock();
    if (left != nullptr) {
        left->release();
    }
}

moved fd_state::read(const iovec* to, int count) noexcept {
    ssize_t n = 0;
    do {
        n = count != 1                 ? ::readv(fd_, to, count)
            : kind_ == fd_kind::socket ? receive(fd_, to->iov_base, to->iov_len)
                                       : ::read(fd_, to->iov_base, to->iov_len);
    } while (n < 0 && errno == EINTR);
    return {n, errno};
}

moved fd_state::write(const iovec* from, int count) noexcept {
    ssize_t n = 0;
    if (kind_ == fd_kind::file) {
        const pipe_signal_blocked blocked;
        do {
            n = count == 1 ? ::write(fd_, from->iov_base, from->iov_len) : ::writev(fd_, from, count);
        } while (n < 0 && errno == EINTR);
        std::size_t asked = 0;
        for (int i = 0; i < count; ++i) {
            asked += from[i].iov_len;
        }
        return blocked.after(n, asked);
    }
    do {
        if (count == 1) {
            n = send(fd_, from->iov_base, from->iov_len);
        } else {
            msghdr all{};
            all.msg_iov = const_cast<iovec*>(from);
            all.msg_iovlen = static_cast<std::size_t>(count);
            n = ::sendmsg(fd_, &all, MSG_NOSIGNAL);
        }
    } while (n < 0 && errno == EINTR);
    return {n, errno};
}

moved fd_state::send_file(int file, std::uint64_t offset, std::size_t count) noexcept {
    const pipe_signal_blocked blocked;
    ssize_t n = 0;
    do {
        auto at = static_cast<off_t>(offset);
        n = ::sendfile(fd_, file, &at, count);
    } while (n < 0 && errno == EINTR);
    return blocked.after(n, count);
}

int fd_state::end_writing() noexcept {
    if (kind_ == fd_kind::file) {
        return ENOTSOCK;
    }
    return ::shutdown(fd_, SHUT_WR) == 0 ? 0 : errno;
}

bool fd_state::block(direction d, time_point deadline) noexcept {
    constexpr duration slice = std::chrono::milliseconds(100);  // a close() by another thread is noticed after this
    pollfd p{fd_, static_cast<short>(d == direction::in ? POLLIN : POLLOUT), 0};
    const duration left =
        deadline == time_point::min() ? duration(0) : std::clamp(deadline - seam::now(), duration(0), slice);
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    return ::poll(&p, 1, static_cast<int>(ms)) > 0;
}

// Threads that block in a call, and peers, notice at once.
void fd_state::interrupt() noexcept {
    if (kind_ == fd_kind::socket && owns_) {
        ::shutdown(fd_, SHUT_RDWR);
    }
}

void fd_state::shut() noexcept {
    end_limits();
    if (owns_) {
        ::close(std::exchange(fd_, -1));  // the kernel forgets a descriptor that is closed
    }
    let_go();
    fd_ = -1;
}

void fd_state::released() noexcept {
    drop_limits();
    fd_cache::give_back(*this);
}

}  // namespace roost::inline ROOST_ABI::io::detail
