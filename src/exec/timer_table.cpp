// Orders T1 and T2: exec/detail/timer_table.hpp.

#include <roost/exec/detail/timer_table.hpp>

#include <roost/base/assert.hpp>
#include <roost/base/detail/measuring.hpp>
#include <roost/exec/detail/flight_recorder.hpp>

#include <climits>

namespace roost::inline ROOST_ABI::detail {

timer_table::armed_as timer_table::arm(timer& t, timer_service& service) noexcept {
    ROOST_ASSERT(t.service != &service || t.state != armed, "a timer that is armed was armed again");
    t.service = &service;
    if (closed_) {
        t.state = idle;
        return armed_as::refused;
    }
    t.state = armed;
    ++size_;
    const auto look_at = wheel_.insert(t);
    if (look_at >= next_) {
        return armed_as::in_time;
    }
    next_ = look_at;
    return armed_as::earliest;
}

bool timer_table::disarm(timer& t) noexcept {
    if (t.state == armed) {
        wheel_.erase(t);
        --size_;
        t.state = idle;
        return true;
    }
    const bool never_fired = t.state == idle;
    if (firing_ == &t && firing_thread_ != thread_index()) {
        wait_out(t);
    }
    return never_fired;
}

void timer_table::wait_out(timer& t) noexcept {
    while (firing_ == &t) {
        awaited_ = true;
        const std::uint32_t round = rounds_.load(mo::relaxed);  // T2
        lock_.unlock();
        wait_on(rounds_, round);
        lock_.lock();
    }
}

void timer_table::fire_due(time_point now, unsigned batch) noexcept {
    wheel_.advance(timer_wheel<>::begun_at(now));
    while (timer* t = batch == 0 ? nullptr : wheel_.pop_due()) {
        --batch;
        --size_;
        t->state = fired;
        if (measuring::is_on() && t->deadline() > time_point()) {  // others are due at once
            measuring::record(timed::timer_lateness, now - t->deadline());
        }
        firing_ = t;
        firing_thread_ = thread_index();
        lock_.unlock();
        if (flight_recorder::now() != 0) [[unlikely]] {
            const duration late = t->deadline() < now ? now - t->deadline() : duration(0);
            flight_recorder::write(event_kind::timer_fired, t, static_cast<std::uint64_t>(late.count()), 0);
        }
        t->fire();  // may destroy it
        lock_.lock();
        firing_ = nullptr;
        if (awaited_) {
            awaited_ = false;
            rounds_.fetch_add(1, mo::relaxed);  // T1 survives fetch_add as load and store: it is changed under the lock
            wake_on(&rounds_, INT_MAX);
        }
    }
    next_ = wheel_.next_tick();
}

std::size_t timer_table::close() noexcept {
    std::size_t left = 0;
    closed_ = true;
    size_ = 0;
    while (timer* t = wheel_.pop_any()) {
        t->state = idle;
        t->service = nullptr;  // for owners that outlive the service: there is nothing to disarm
        ++left;
    }
    if (firing_ != nullptr && firing_thread_ != thread_index()) {
        wait_out(*firing_);  // the last one: the wheel is empty
    }
    return left;
}

}  // namespace roost::inline ROOST_ABI::detail
