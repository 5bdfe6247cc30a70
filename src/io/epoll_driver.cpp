#include <roost/io/epoll_driver.hpp>

#include <roost/base/atomic.hpp>
#include <roost/io/error.hpp>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

// id  operation               order    pairs  carries                                                   fails in
// D1  retain: fetch_add       seq_cst  -      nothing: the caller holds a reference                     (no model: the kernel's set)
// D2  release: fetch_sub      seq_cst  D2     all touches, before it is destroyed                       (no model: the kernel's set)

namespace roost::inline ROOST_ABI::io {

using namespace seam;

namespace {

int checked(int fd, const char* what) {
    if (fd < 0) {
        throw std::system_error(errno, std::system_category(), what);
    }
    return fd;
}

}  // namespace

// The kernel's set. What is registered keeps it.
class detail::epoll_core final : public ext::reactor {
public:
    epoll_core() : set_(checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")) {
        try {
            alarm_ = checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd");
            epoll_event e{};
            e.events = EPOLLIN | EPOLLET;  // each write is an event, so the counter is never read
            checked(::epoll_ctl(set_, EPOLL_CTL_ADD, alarm_, &e), "epoll_ctl");
        } catch (...) {
            close_both();
            throw;
        }
    }

    void retain() noexcept override { references_.fetch_add(1, mo::seq_cst); }  // D1
    void release() noexcept override {
        if (references_.fetch_sub(1, mo::seq_cst) == 1) {  // D2
            delete this;
        }
    }
    std::error_code watch(ext::event_source& source, int fd) noexcept override {
        return add(source, fd, EPOLLIN | EPOLLOUT);
    }
    std::error_code watch_reading(ext::event_source& source, int fd) noexcept override { return add(source, fd, EPOLLIN); }
    std::error_code add(ext::event_source& source, int fd, std::uint32_t events) noexcept {
        if (is_closed()) {
            return make_error_code(errc::closed);
        }
        epoll_event e{};
        e.events = events | EPOLLRDHUP | EPOLLPRI | EPOLLET;
        e.data.ptr = &source;
        // EEXIST: the second direction, or a borrowed descriptor that was closed and opened again by its owner under its number.
        const bool done = ::epoll_ctl(set_, EPOLL_CTL_ADD, fd, &e) == 0 ||
                          (errno == EEXIST && ::epoll_ctl(set_, EPOLL_CTL_MOD, fd, &e) == 0);
        return done ? std::error_code() : std::error_code(errno, std::system_category());
    }
    void forget(int fd) noexcept override {
        epoll_event ignored{};
        static_cast<void>(::epoll_ctl(set_, EPOLL_CTL_DEL, fd, &ignored));
    }
    void close() noexcept { set_closed(); }

    void wake() noexcept {
        const int saved = errno;
        const std::uint64_t one = 1;
        static_cast<void>(!::write(alarm_, &one, sizeof one));
        errno = saved;
    }
    // Returns how many events it stored.
    int wait(epoll_event* to, int room, time_point deadline) noexcept;
    [[nodiscard]] int native_handle() const noexcept { return set_; }

private:
    ~epoll_core() { close_both(); }
    void close_both() const noexcept {
        if (alarm_ >= 0) {
            ::close(alarm_);
        }
        ::close(set_);
    }

    int set_;
    int alarm_ = -1;
    atomic<std::uint32_t> references_{1};
};

// The events of one call of the kernel.
class detail::epoll_batch {
public:
    static constexpr int room = 256;
    epoll_event events[room];
    int count = 0;
};

int detail::epoll_core::wait(epoll_event* to, int room, time_point deadline) noexcept {
    if (deadline == no_deadline) {
        return ::epoll_wait(set_, to, room, -1);
    }
    const duration left = deadline == time_point::min() ? duration(0) : std::max(deadline - now(), duration(0));
    if (left == duration(0)) {
        return ::epoll_wait(set_, to, room, 0);
    }
    timespec limit{};
    limit.tv_sec = static_cast<std::time_t>(left.count() / 1'000'000'000);
    limit.tv_nsec = static_cast<long>(left.count() % 1'000'000'000);
    const int seen = ::epoll_pwait2(set_, to, room, &limit, nullptr);
    if (seen >= 0 || errno != ENOSYS) {
        return seen;
    }
    // Before Linux 5.11: whole milliseconds, at most an hour at a time.
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(std::min<duration>(left, std::chrono::hours(1))).count();
    return ::epoll_wait(set_, to, room, static_cast<int>(ms));
}

epoll_driver::epoll_driver() : core_(new detail::epoll_core) {
    try {
        batch_ = std::make_unique<detail::epoll_batch>();
    } catch (...) {
        core_->release();
        throw;
    }
}

epoll_driver::~epoll_driver() {
    close();
    core_->release();
}

void epoll_driver::park(time_point deadline) noexcept {
    if (batch_->count == 0) {
        batch_->count = std::max(core_->wait(batch_->events, detail::epoll_batch::room, deadline), 0);
    }
}

bool epoll_driver::poll() noexcept {
    park(time_point::min());
    const int count = std::exchange(batch_->count, 0);
    for (int i = 0; i < count; ++i) {
        const epoll_event& e = batch_->events[i];
        if (auto* source = static_cast<ext::event_source*>(e.data.ptr)) {
            const bool is_broken = (e.events & (EPOLLHUP | EPOLLERR)) != 0;
            // A read stops short at urgent data, with more behind it: as at the end, a short read is not the last.
            const bool is_ended = is_broken || (e.events & (EPOLLRDHUP | EPOLLPRI)) != 0;
            source->happened(ext::io_events((e.events & EPOLLIN) != 0, (e.events & EPOLLOUT) != 0 || is_broken, is_ended));
        }
    }
    return count != 0;
}

void epoll_driver::wake() noexcept { core_->wake(); }

ext::reactor* epoll_driver::reactor(std::error_code& why) noexcept {
    why.clear();
    return core_;
}

void epoll_driver::close() noexcept { core_->close(); }
int epoll_driver::native_handle() const noexcept { return core_->native_handle(); }

}  // namespace roost::inline ROOST_ABI::io
