// Orders H2, T6: pool/detail/slot.hpp.

#include <roost/pool/detail/pool_upkeep.hpp>

#include <roost/pool/detail/pool_creation.hpp>
#include <roost/pool/detail/pool_queue.hpp>

#include <algorithm>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

pool_upkeep::pool_upkeep(pool_life& life, pool_queue& queue, pool_creation& creation) noexcept
    : life_(life), settings_(life.settings()), queue_(queue), creation_(creation), alarm_(*this, life) {}

// Returns true if the resource was idle for strictly longer than idle_ttl, or is past its lifetime.
bool pool_upkeep::is_stale(const slot_base& s, std::int64_t now) const noexcept {
    const std::int64_t ttl = settings_.options.idle_ttl.count();
    const std::int64_t expires = s.expires.load(mo::relaxed);                              // T6
    return (ttl > 0 && now - s.used.load(mo::relaxed) > ttl) || (expires != 0 && now > expires);  // T6
}

bool pool_upkeep::return_with_upkeep(slot_base& s) noexcept {
    const std::int64_t now = settings_.time_now();
    const std::int64_t expires = s.expires.load(mo::relaxed);  // T6
    if (expires != 0 && now > expires) {
        pool_counters::add_one(life_.counters().expired);
        creation_.discard(s);
        return true;
    }
    s.used.store(now, mo::relaxed);  // T6
    evict_stale(*s.home, now);
    return false;
}

gift pool_upkeep::examine(slot_base& s) noexcept {
    const pool_settings& how = settings_;
    const std::int64_t now = how.has_upkeep ? how.time_now() : 0;
    bool is_fine = !how.has_upkeep || !is_stale(s, now);
    if (!is_fine) {
        pool_counters::add_one(life_.counters().expired);
    } else if (how.options.check_after <= duration::zero() ||
               now - s.used.load(mo::relaxed) > how.options.check_after.count()) {  // T6
        if (how.checks_async) {
            return gift::unchecked;
        }
        try {
            is_fine = life_.check(s);
        } catch (...) {
            is_fine = false;
            life_.report(pool_error::step::check, static_cast<int>(s.home->number), std::current_exception());
        }
        if (!is_fine) {
            pool_counters::add_one(life_.counters().checks_failed);
        }
    }
    if (!is_fine) {
        creation_.discard(s);
    }
    return is_fine ? gift::resource : gift::nothing;
}

void pool_upkeep::evict_stale(pool_stripe& home, std::int64_t now) noexcept {
    const auto evict_first = [&](stripe_state x) noexcept {
        unsigned position = 0;
        while (position < x.idle() && !is_stale(*home.slots[x.at(position)], now)) {
            ++position;
        }
        return stripe::evict(x, position);  // refused if position is past the last
    };
    for (;;) {
        const stripe_step step = home.commit(evict_first);
        if (step.is_refused()) {
            return;
        }
        slot_base& s = *home.slots[step.slot];
        if (is_stale(s, now)) {
            pool_counters::add_one(life_.counters().expired);
            creation_.destroy(s);
        } else {  // used and returned between the check and the commit: the word is the same, the time is not
            keep_after_all(s);
        }
    }
}

// s was evicted but is not stale. Makes it idle again, because an eviction is not counted as work of the node. A waiter then
// takes it from there, which enters the node.
void pool_upkeep::keep_after_all(slot_base& s) noexcept {
    pool_effects fx;
    queue_.lock();
    fx.note(s.home->commit([&](stripe_state x) { return stripe::bank(x, s.number); }), s);
    queue_.serve(fx);
    queue_.unlock_and_run(fx);
}

void pool_upkeep::warm_up() noexcept {
    for (std::uint32_t live = life_.stripes().live(); live < settings_.options.warm; ++live) {
        if (!creation_.create_one()) {
            return;
        }
    }
}

// --- periodic upkeep ---------------------------------------------------------------------------------------------------------

// Returns zero if there is nothing to do periodically.
duration pool_upkeep::period() const noexcept {
    const pool_options& o = settings_.options;
    duration shortest = duration::zero();
    for (const duration d : {o.idle_ttl, o.max_lifetime, o.leak_after}) {
        if (d > duration::zero() && (shortest == duration::zero() || d < shortest)) {
            shortest = d;
        }
    }
    if (shortest == duration::zero()) {
        if (o.warm == 0) {
            return shortest;
        }
        shortest = std::chrono::seconds(1);
    }
    return std::max<duration>(shortest / 4, std::chrono::milliseconds(1));
}

void pool_upkeep::start() noexcept {
    timer_service* const timers = settings_.options.timers;
    const duration after = period();
    if (timers == nullptr || after == duration::zero()) {
        return;
    }
    queue_.lock();
    bool go = !life_.is_drained();  // leaks are also reported while a closed pool drains
    if (go) {
        if (!std::exchange(lives_, true)) {
            life_.retain();
        }
        alarm_.set_deadline(deadline_after(timers->now(), after));
        go = timers->arm(alarm_);  // false if the timers are closed: upkeep ends
    }
    const bool ended = !go && std::exchange(lives_, false);
    queue_.unlock();
    if (ended) {
        life_.release();
    }
}

// Counts as an aside: on_leak may be called after the last resource was returned, and closing waits for it.
void pool_upkeep::maintain() noexcept {
    queue_.lock();
    const bool go = !life_.is_drained();
    life_.add_asides(go ? 1 : 0);
    queue_.unlock();
    if (go) {
        look_after();
        life_.end_aside();
    }
    start();
}

void pool_upkeep::look_after() noexcept {
    const std::int64_t now = settings_.time_now();
    for (pool_stripe& home : life_.stripes()) {
        evict_stale(home, now);
    }
    if (settings_.options.leak_after > duration::zero()) {
        report_leaks(now);
    }
    queue_.serve();  // a suspension may be over
    warm_up();
}

void pool_upkeep::report_leaks(std::int64_t now) noexcept {
    for (pool_stripe& home : life_.stripes()) {
        for (unsigned n = 0; n < home.slot_count; ++n) {
            report_leak(*home.slots[n], now);
        }
    }
}

void pool_upkeep::report_leak(slot_base& s, std::int64_t now) noexcept {
    const site where = s.where.load(mo::acquire);  // H2
    const std::int64_t since = s.since.load(mo::relaxed);  // T6
    const bool leaks = where.is_known() && since != 0 && now - since > settings_.options.leak_after.count();
    if (!leaks) {
        s.leak_reported = false;
        return;
    }
    if (std::exchange(s.leak_reported, true)) {
        return;
    }
    pool_counters::add_one(life_.counters().leaks);
    const char* holder = s.holder.load(mo::relaxed);  // T6
    const int stripe = static_cast<int>(s.home->number);
    try {
        if (settings_.options.on_leak) {
            settings_.options.on_leak(pool_holder(holder == nullptr ? "" : holder, where, stripe, duration(now - since)));
        }
    } catch (...) {
        life_.report(pool_error::step::check, stripe, std::current_exception());
    }
}

// If the timer has already fired, its posted work ends by itself.
void pool_upkeep::end() noexcept {
    queue_.lock();
    const bool is_armed = lives_;
    queue_.unlock();
    if (is_armed && settings_.options.timers->disarm(alarm_)) {
        life_.release();
    }
}

}  // namespace roost::inline ROOST_ABI::detail
