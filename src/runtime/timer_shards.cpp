#include <roost/runtime/detail/timer_shards.hpp>

#include <algorithm>

namespace roost::inline ROOST_ABI::detail {

namespace {

// At most so many at a time, so that timers that arm each other in the past cannot occupy the keeper.
constexpr unsigned batch = 1024;

}  // namespace

bool timer_shard::arm(timer& t) noexcept {
    table_.lock();
    const auto result = table_.arm(t, *this);
    if (result == timer_table::armed_as::earliest) {
        ringer->ring();  // under the lock: as soon as the timer can fire, its effect may end the runtime
    }
    table_.unlock();
    return result != timer_table::armed_as::refused;
}

bool timer_shard::disarm(timer& t) noexcept {
    table_.lock();
    const bool never_fired = table_.disarm(t);
    table_.unlock();
    return never_fired;
}

time_point timer_shard::advance(time_point now) noexcept {
    table_.lock();
    table_.fire_due(now, batch);
    const time_point next = table_.next();
    table_.unlock();
    return next;
}

std::size_t timer_shard::close() noexcept {
    table_.lock();
    const std::size_t left = table_.close();
    table_.unlock();
    return left;
}

std::size_t timer_shard::size() noexcept {
    table_.lock();
    const std::size_t armed = table_.size();
    table_.unlock();
    return armed;
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

std::size_t timer_shards::size() noexcept {
    std::size_t armed = 0;
    for (timer_shard& shard : shards_) {
        armed += shard.size();
    }
    return armed;
}

}  // namespace roost::inline ROOST_ABI::detail
