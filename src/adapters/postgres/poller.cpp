#include <roost/adapters/postgres/poller.hpp>
#include <roost/base/assert.hpp>

#include "side_threads.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace roost::inline ROOST_ABI::postgres {

using namespace seam;

namespace {

constexpr std::size_t side_thread_limit = 4;

class locked {
public:
    explicit locked(small_mutex& m) noexcept : m_(m) { m_.lock(); }
    locked(const locked&) = delete;
    locked& operator=(const locked&) = delete;
    ~locked() { m_.unlock(); }

private:
    small_mutex& m_;
};

int checked(int descriptor, const char* what) {
    if (descriptor < 0) {
        throw std::system_error(errno, std::system_category(), what);
    }
    return descriptor;
}

}  // namespace

poller::poller(std::string_view name)
    : name_(name),
      starts_(std::make_unique<detail::side_threads>(name_, side_thread_limit)),
      cancels_(std::make_unique<detail::side_threads>(name_, side_thread_limit)) {
    epoll_ = checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
    try {
        wake_ = checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd");
        if (!watch(wake_, readable)) {
            throw std::system_error(errno, std::system_category(), "epoll_ctl");
        }
        thread_ = thread([this] { run(); });
    } catch (...) {
        ::close(epoll_);
        if (wake_ >= 0) {
            ::close(wake_);
        }
        throw;
    }
}

poller::~poller() {
    {
        const locked hold(lock_);
        ending_ = true;
    }
    wake();
    thread_.join();
    if (armed_ != 0) {
        roost::detail::panic("poller", name_, site(),
                             "it was destroyed while an entry is armed; close its connections before");
    }
    ::close(wake_);
    ::close(epoll_);
}

void poller::wake() noexcept {
    const std::uint64_t one = 1;
    static_cast<void>(::write(wake_, &one, sizeof one));
}

// One-shot, except for the poller's own descriptor. A closed socket leaves the kernel's set by itself, so its number may be
// in the set or not.
bool poller::watch(int fd, std::uint32_t events) noexcept {
    epoll_event e{};
    e.data.fd = fd;
    e.events = ((events & readable) != 0 ? EPOLLIN | EPOLLRDHUP : 0U) | ((events & writable) != 0 ? EPOLLOUT : 0U) |
               (fd == wake_ ? 0U : EPOLLONESHOT);
    return ::epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &e) == 0 ||
           (errno == ENOENT && ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &e) == 0);
}

bool poller::arm(entry& e, int fd, std::uint32_t events, time_point deadline) noexcept {
    bool is_sooner = false;
    {
        const locked hold(lock_);
        ROOST_ASSERT(!e.armed_, "an entry of a poller was armed twice");
        try {
            if (fd >= 0 && by_fd_.size() <= static_cast<std::size_t>(fd)) {
                by_fd_.resize(static_cast<std::size_t>(fd) + 1, nullptr);
            }
            if (armed_ == timed_.capacity()) {
                timed_.reserve(2 * armed_ + 8);  // every armed entry may still get a deadline
            }
        } catch (...) {
            errno = ENOMEM;
            return false;
        }
        if (fd >= 0) {
            ROOST_ASSERT(by_fd_[static_cast<std::size_t>(fd)] == nullptr, "two entries are armed for one socket");
            by_fd_[static_cast<std::size_t>(fd)] = &e;
        }
        e.fd_ = fd;
        e.armed_ = true;
        ++armed_;
        e.deadline_ = deadline;
        if (deadline != no_deadline) {
            timed_.push_back(&e);
            e.timed_index_ = timed_.size();
        }
        // Under the lock: otherwise the deadline could fire first, the socket be closed, and its number be reused.
        if (fd >= 0 && !watch(fd, events)) {
            const int why = errno;
            forget(e);
            errno = why;
            return false;
        }
        is_sooner = deadline < next_;
        next_ = std::min(next_, deadline);
    }
    if (is_sooner) {
        wake();
    }
    return true;
}

bool poller::hurry(entry& e, time_point deadline) noexcept {
    bool is_sooner = false;
    {
        const locked hold(lock_);
        if (!e.armed_) {
            return false;
        }
        if (deadline < e.deadline_) {
            if (e.timed_index_ == 0) {
                timed_.push_back(&e);  // arm() has reserved the space
                e.timed_index_ = timed_.size();
            }
            e.deadline_ = deadline;
            is_sooner = deadline < next_;
            next_ = std::min(next_, deadline);
        }
    }
    if (is_sooner) {
        wake();
    }
    return true;
}

bool poller::withdraw(entry& e) noexcept {
    const locked hold(lock_);
    if (!e.armed_) {
        return false;
    }
    if (e.fd_ >= 0) {
        watch(e.fd_, none);
    }
    forget(e);
    return true;
}

// Called under the lock, for an entry that is no longer armed.
void poller::forget(entry& e) noexcept {
    if (e.fd_ >= 0) {
        by_fd_[static_cast<std::size_t>(e.fd_)] = nullptr;
    }
    if (e.timed_index_ != 0) {
        timed_[e.timed_index_ - 1] = timed_.back();
        timed_[e.timed_index_ - 1]->timed_index_ = e.timed_index_;
        timed_.pop_back();
        e.timed_index_ = 0;
    }
    e.armed_ = false;
    --armed_;
}

// Called under the lock. Returns the expired entries that fit; the rest is found at the next check.
std::size_t poller::take_expired(fired* out, std::size_t room) noexcept {
    if (next_ == no_deadline) {
        return 0;
    }
    const time_point t = now();
    if (t < next_) {
        return 0;
    }
    std::size_t count = 0;
    next_ = no_deadline;
    for (std::size_t i = 0; i < timed_.size();) {
        entry* const e = timed_[i];
        if (e->deadline_ > t || count == room) {
            next_ = std::min(next_, e->deadline_);
            ++i;
            continue;
        }
        if (e->fd_ >= 0) {
            watch(e->fd_, none);
        }
        forget(*e);
        out[count++] = {e, expired};
    }
    return count;
}

// Called under the lock. Returns how long to wait in the kernel.
int poller::milliseconds_to_next() const noexcept {
    if (next_ == no_deadline) {
        return -1;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_ - now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
}

// Polls the kernel once, takes the lock once, then calls the entries without it.
void poller::run() noexcept {
    constexpr std::size_t batch = 64;
    epoll_event events[batch];
    fired ready[2 * batch];
    int timeout = -1;
    for (;;) {
        const int seen = ::epoll_wait(epoll_, events, static_cast<int>(batch), timeout);
        std::size_t count = 0;
        bool is_ending = false;
        {
            const locked hold(lock_);
            for (int i = 0; i < seen; ++i) {
                const int fd = events[i].data.fd;
                if (fd == wake_) {
                    std::uint64_t ignored = 0;
                    static_cast<void>(::read(wake_, &ignored, sizeof ignored));
                    continue;
                }
                if (entry* const e = by_fd_[static_cast<std::size_t>(fd)]) {
                    const std::uint32_t got = events[i].events;
                    forget(*e);
                    ready[count++] = {e, ((got & ~std::uint32_t(EPOLLOUT)) != 0 ? readable : none) |
                                             ((got & EPOLLOUT) != 0 ? writable : none)};
                }
            }
            count += take_expired(ready + count, batch);
            timeout = milliseconds_to_next();
            is_ending = ending_;
        }
        for (std::size_t i = 0; i < count; ++i) {
            ready[i].what->fired_(*ready[i].what, ready[i].events);
        }
        if (is_ending) {
            return;
        }
    }
}

}  // namespace roost::inline ROOST_ABI::postgres
