#include <roost/runtime/detail/timer_shards.hpp>

#include <roost/base/assert.hpp>

#include <algorithm>
#include <climits>

namespace roost::inline ROOST_ABI::detail {

namespace {

// At most so many at a time, so that timers which arm each other in the past cannot keep the keeper from everything else.
constexpr unsigned batch = 1024;

}  // namespace

bool timer_shard::arm(timer& t) noexcept {
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
    const bool earlier = look_at < known_;
    if (earlier) {
        known_ = look_at;
    }
    lock_.unlock();
    if (earlier) {
        ringer->ring();
    }
    return true;
}

bool timer_shard::disarm(timer& t) noexcept {
    lock_.lock();
    if (t.state == armed) {
        wheel_.erase(t);
        t.state = idle;
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
void timer_shard::wait_out(timer& t) noexcept {
    while (firing_ == &t) {
        awaited_ = true;
        const std::uint32_t round = rounds_.load(mo::relaxed);  // T2
        lock_.unlock();
        wait_on(rounds_, round);
        lock_.lock();
    }
}

time_point timer_shard::advance(time_point now) noexcept {
    lock_.lock();
    wheel_.advance(timer_wheel<>::begun_at(now));
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
    known_ = wheel_.next_tick();
    const time_point next = timer_wheel<>::start_of(known_);
    lock_.unlock();
    return next;
}

std::size_t timer_shard::close() noexcept {
    std::size_t left = 0;
    lock_.lock();
    closed_ = true;
    while (timer* t = wheel_.pop_any()) {
        t->state = idle;
        ++left;
    }
    lock_.unlock();
    return left;
}

timer_shards::timer_shards(bell& keeper) noexcept {
    for (timer_shard& shard : shards_) {
        shard.ringer = &keeper;
    }
}

time_point timer_shards::advance(time_point now) noexcept {
    time_point next = no_deadline;
    for (timer_shard& shard : shards_) {
        next = std::min(next, shard.advance(now));
    }
    return next;
}

std::size_t timer_shards::close() noexcept {
    std::size_t left = 0;
    for (timer_shard& shard : shards_) {
        left += shard.close();
    }
    return left;
}

}  // namespace roost::inline ROOST_ABI::detail
