#include <roost/asio/detail/io_timers.hpp>

#include <roost/base/assert.hpp>

#include <climits>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

namespace {
// At most so many at a time, so that timers which arm each other in the past cannot keep the context from everything else.
constexpr unsigned batch = 256;
}  // namespace

// The handler of the alarm. Dropped unrun when its context ends.
class io_timers::rung {
public:
    explicit rung(io_timers& owner) noexcept : owner_(&owner) {}

    using allocator_type = handler_allocator<>;
    [[nodiscard]] allocator_type get_allocator() const noexcept { return allocator_type(owner_->memory_); }
    void operator()(const boost::system::error_code&) const noexcept { owner_->advance(); }

private:
    io_timers* owner_;
};

io_timers::io_timers(boost::asio::io_context& context) : alarm_(std::in_place, context.get_executor()) {}

bool io_timers::arm(timer& t) noexcept {
    lock_.lock();
    ROOST_ASSERT(t.service != this || t.state != armed, "a timer is armed that is armed already");
    t.service = this;
    if (closed_) {
        t.state = idle;
        lock_.unlock();
        return false;
    }
    t.state = armed;
    const auto look_at = wheel_.insert(t);
    if (look_at < known_) {
        known_ = look_at;
        if (waiting_) {
            alarm_->cancel();  // its handler begins the next wait
        } else if (!advancing_) {
            begin_wait();
        }
    }
    lock_.unlock();
    return true;
}

bool io_timers::disarm(timer& t) noexcept {
    lock_.lock();
    if (t.state == armed) {
        wheel_.erase(t);
        t.state = idle;
        if (waiting_ && wheel_.is_empty()) {
            // Nobody sleeps any more: the alarm must not keep io.run() from returning.
            known_ = timer_wheel<>::never;
            alarm_->cancel();
        }
        lock_.unlock();
        return true;
    }
    const bool never_fired = t.state == idle;
    if (firing_ == &t && firing_thread_ != thread_index()) {
        wait_out(t);
    }
    lock_.unlock();
    return never_fired;
}

// With the lock, which is given up while waiting.
void io_timers::wait_out(timer& t) noexcept {
    while (firing_ == &t) {
        awaited_ = true;
        const std::uint32_t round = rounds_.load(mo::relaxed);  // T2
        lock_.unlock();
        wait_on(rounds_, round);
        lock_.lock();
    }
}

// With the lock. Asio calls nobody from inside these, so holding it is safe.
void io_timers::begin_wait() noexcept {
    waiting_ = true;
    alarm_->expires_at(alarm::time_point(timer_wheel<>::start_of(known_).time_since_epoch()));
    alarm_->async_wait(rung(*this));
}

void io_timers::advance() noexcept {
    lock_.lock();
    waiting_ = false;
    advancing_ = true;
    wheel_.advance(timer_wheel<>::begun_at(now()));
    unsigned left = batch;
    while (timer* t = left == 0 ? nullptr : wheel_.pop_due()) {
        --left;
        t->state = fired;
        firing_ = t;
        firing_thread_ = thread_index();
        lock_.unlock();
        t->fire();  // may destroy it
        lock_.lock();
        firing_ = nullptr;
        if (awaited_) {
            awaited_ = false;
            rounds_.fetch_add(1, mo::relaxed);  // T1 survives fetch_add as load and store: it is changed under the lock
            wake_on(&rounds_, INT_MAX);
        }
    }
    advancing_ = false;
    known_ = wheel_.next_tick();
    if (known_ != timer_wheel<>::never && !closed_) {
        begin_wait();
    }
    lock_.unlock();
}

std::size_t io_timers::close() noexcept {
    std::size_t left = 0;
    lock_.lock();
    closed_ = true;
    while (timer* t = wheel_.pop_any()) {
        t->state = idle;
        ++left;
    }
    std::optional<alarm> gone = std::exchange(alarm_, std::nullopt);
    lock_.unlock();
    return left;
}

}  // namespace roost::inline ROOST_ABI::detail
