#include <roost/adapters/postgres/poller.hpp>
#include <roost/base/assert.hpp>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace roost::inline ROOST_ABI::postgres {

namespace {

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

poller::poller(std::string_view name) : name_(name) {
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
        panic("poller", name_, site(), "was destroyed while somebody waits for a socket");
    }
    ::close(wake_);
    ::close(epoll_);
}

void poller::wake() noexcept {
    const std::uint64_t one = 1;
    static_cast<void>(::write(wake_, &one, sizeof one));
}

// One-shot, except for the poller's own descriptor. A closed socket leaves the kernel's set by itself, so its number may be
// there or not.
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
                timed_.reserve(2 * armed_ + 8);  // every armed entry may yet be hurried
            }
        } catch (...) {
            errno = ENOMEM;
            return false;
        }
        if (fd >= 0) {
            ROOST_ASSERT(by_fd_[static_cast<std::size_t>(fd)] == nullptr, "two wait for one socket");
            if (!watch(fd, events)) {
                return false;
            }
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
                timed_.push_back(&e);  // arm() has made room
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

// Under the lock: not armed any more.
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

int poller::milliseconds_to_next() noexcept {
    const locked hold(lock_);
    if (ending_ || next_ == no_deadline) {
        return ending_ ? 0 : -1;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_ - now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
}

void poller::fire_expired(time_point t) noexcept {
    for (;;) {
        entry* late = nullptr;
        {
            const locked hold(lock_);
            if (t < next_) {
                return;
            }
            time_point earliest = no_deadline;
            for (entry* e : timed_) {
                if (e->deadline_ <= t) {
                    late = e;
                    break;
                }
                earliest = std::min(earliest, e->deadline_);
            }
            if (late == nullptr) {
                next_ = earliest;
                return;
            }
            if (late->fd_ >= 0) {
                watch(late->fd_, none);
            }
            forget(*late);
        }
        late->fired_(*late, expired);
    }
}

void poller::run() noexcept {
    constexpr int batch = 64;
    epoll_event events[batch];
    for (;;) {
        const int timeout = milliseconds_to_next();
        const int count = ::epoll_wait(epoll_, events, batch, timeout);
        for (int i = 0; i < count; ++i) {
            const int fd = events[i].data.fd;
            if (fd == wake_) {
                std::uint64_t ignored = 0;
                static_cast<void>(::read(wake_, &ignored, sizeof ignored));
                continue;
            }
            entry* ready = nullptr;
            {
                const locked hold(lock_);
                ready = by_fd_[static_cast<std::size_t>(fd)];
                if (ready != nullptr) {
                    forget(*ready);
                }
            }
            if (ready != nullptr) {
                const std::uint32_t got = events[i].events;
                ready->fired_(*ready, ((got & ~std::uint32_t(EPOLLOUT)) != 0 ? readable : none) |
                                          ((got & EPOLLOUT) != 0 ? writable : none));
            }
        }
        fire_expired(now());
        const locked hold(lock_);
        if (ending_) {
            return;
        }
    }
}

}  // namespace roost::inline ROOST_ABI::postgres
