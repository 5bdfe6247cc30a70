#include <roost/adapters/postgres/poller.hpp>

#include <roost/base/assert.hpp>
#include <roost/runtime/loop.hpp>

#include "event_wait.hpp"
#include "side_threads.hpp"

#include <cerrno>
#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <utility>

#include <poll.h>

namespace roost::inline ROOST_ABI::postgres {

using namespace seam;

namespace {

constexpr std::size_t side_thread_limit = 4;

using guard_type = std::lock_guard<small_mutex>;

// A loop on a thread of its own.
class loop_thread {
public:
    explicit loop_thread(std::string_view name) : loop_(name), thread_([this] { loop_.run(); }) {}
    loop_thread(const loop_thread&) = delete;
    loop_thread& operator=(const loop_thread&) = delete;
    ~loop_thread() {
        loop_.close();
        thread_.join();
    }
    [[nodiscard]] loop& where() noexcept { return loop_; }

private:
    loop loop_;
    thread thread_;
};

}  // namespace

struct poller::parts {
    explicit parts(std::string_view n) : name(n), starts(name, side_thread_limit), cancels(name, side_thread_limit) {}

    std::string name;
    detail::side_threads starts;
    detail::side_threads cancels;
    small_mutex lock;
    std::unique_ptr<loop_thread> own;  // under the lock; once made, it stays
    std::size_t armed = 0;  // entries; under the lock
};

poller::poller(std::string_view name) : parts_(std::make_unique<parts>(name)) {}

poller::~poller() {
    if (parts_->armed != 0) {
        roost::detail::panic("poller", parts_->name, site(),
                             "it was destroyed while an entry is armed; withdraw its entries before");
    }
}

executor& poller::get_executor() {
    const guard_type held(parts_->lock);
    if (!parts_->own) {
        parts_->own = std::make_unique<loop_thread>(parts_->name);
    }
    return parts_->own->where();
}

// --- deprecated entries ------------------------------------------------------------------------------------------------------

// The wait of an entry, on the poller's loop.
class detail::watched_entry final : public event_wait {
public:
    watched_entry(poller& of, poller::entry& e, executor& where, int fd)
        : event_wait(of, &watched_entry::woken), poller_(&of), entry_(&e), socket_(io::descriptor::borrow(fd)) {
        bind(continuation(where, nullptr, nullptr));
    }
    // Returns false if the socket cannot be watched. The poller's thread also reports what has happened already.
    [[nodiscard]] bool start(std::uint32_t events) noexcept {
        wanted_ = events;
        if (begin(socket_.native_handle() < 0 ? nullptr : &socket_, events)) {
            return true;
        }
        found_ = end();
        if ((found_ & refused) != 0) {
            return false;
        }
        post();
        return true;
    }
    void make_earlier(time_point deadline) noexcept {
        if (deadline < deadline_) {
            deadline_ = deadline;
            hurry(deadline);
        }
    }

private:
    static void woken(event_wait& e) noexcept;
    [[nodiscard]] std::uint32_t all_of(std::uint32_t events) const noexcept;

    poller* poller_;
    poller::entry* entry_;
    io::descriptor socket_;
    std::uint32_t wanted_ = none;
    std::uint32_t found_ = none;
    time_point deadline_ = no_deadline;
};

// The first event ends the wait. An entry is told of the other direction, too.
std::uint32_t detail::watched_entry::all_of(std::uint32_t events) const noexcept {
    const std::uint32_t others = (events & (readable | writable)) == 0 ? std::uint32_t(none) : wanted_ & ~events;
    pollfd other{socket_.native_handle(), 0, 0};
    other.events = static_cast<short>(((others & readable) != 0 ? POLLIN : 0) | ((others & writable) != 0 ? POLLOUT : 0));
    return others != none && ::poll(&other, 1, 0) > 0 ? events | others : events;
}

// Runs on the poller's thread.
void detail::watched_entry::woken(event_wait& e) noexcept {
    auto& mine = static_cast<watched_entry&>(e);
    poller::entry& fires = *mine.entry_;
    poller::parts& shared = *mine.poller_->parts_;
    const std::uint32_t what = mine.all_of(mine.found_ | mine.end());
    std::unique_ptr<watched_entry> self;
    {
        const guard_type held(shared.lock);
        self = std::move(fires.armed_);
        --shared.armed;
    }
    self.reset();
    fires.fired_(fires, what);
}

poller::entry::entry(fired_function fired) noexcept : fired_(fired) {}
poller::entry::~entry() = default;

bool poller::arm(entry& e, int fd, std::uint32_t events, time_point deadline) noexcept {
    try {
        executor& where = get_executor();
        auto wait = std::make_unique<detail::watched_entry>(*this, e, where, fd);
        const guard_type held(parts_->lock);
        ROOST_ASSERT(!e.armed_, "an entry of a poller was armed twice");
        e.armed_ = std::move(wait);
        ++parts_->armed;
        e.armed_->make_earlier(deadline);
        if (e.armed_->start(events)) {
            return true;
        }
        errno = e.armed_->why_refused().value();
        e.armed_.reset();
        --parts_->armed;
    } catch (const std::system_error& failed) {
        errno = failed.code().value();
    } catch (const std::bad_alloc&) {
        errno = ENOMEM;
    }
    return false;
}

bool poller::hurry(entry& e, time_point deadline) noexcept {
    const guard_type held(parts_->lock);
    if (e.armed_) {
        e.armed_->make_earlier(deadline);
    }
    return e.armed_ != nullptr;
}

bool poller::withdraw(entry& e) noexcept {
    const guard_type held(parts_->lock);
    if (!e.armed_ || !e.armed_->claim()) {
        return false;
    }
    e.armed_->end();
    e.armed_.reset();
    --parts_->armed;
    return true;
}

}  // namespace roost::inline ROOST_ABI::postgres

namespace roost::inline ROOST_ABI::postgres::detail {

side_threads& adapters_access::starts_of(poller& of) noexcept { return of.parts_->starts; }
side_threads& adapters_access::cancels_of(poller& of) noexcept { return of.parts_->cancels; }

executor_ref adapters_access::source_of_events(poller& of, executor_ref where) noexcept {
    std::error_code why;
    if (where && where->timers() != nullptr && (where->reactor() != nullptr || where->make_reactor(why) != nullptr)) {
        return where;
    }
    try {
        return of.get_executor();
    } catch (...) {
        return {};
    }
}

}  // namespace roost::inline ROOST_ABI::postgres::detail
