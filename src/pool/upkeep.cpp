// Upkeep of a pool: stale, old and unfit resources, leaks, warm resources, ends of suspensions. See pool_core.hpp.

#include <roost/pool/detail/pool_core.hpp>

#include <algorithm>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

pool_core::maintenance::maintenance(work::run_function what) noexcept
    : work(what), timer(+[](timer& t) noexcept {
          auto& self = static_cast<maintenance&>(t);
          post_or_fall_back(self.core->options_.where, self, self.core->name());
      }) {}

// Returns true if the resource was idle for strictly longer than idle_ttl, or is past its lifetime.
bool pool_core::is_stale(const slot_base& s, std::int64_t now) const noexcept {
    const std::int64_t ttl = options_.idle_ttl.count();
    const std::int64_t expires = s.expires.load(mo::relaxed);                              // T6
    return (ttl > 0 && now - s.used.load(mo::relaxed) > ttl) || (expires != 0 && now > expires);  // T6
}

// Called before a resource is returned. Returns true if its lifetime was over and it is being destroyed instead.
bool pool_core::return_with_upkeep(slot_base& s) noexcept {
    const std::int64_t now = time_now();
    const std::int64_t expires = s.expires.load(mo::relaxed);  // T6
    if (expires != 0 && now > expires) {
        pool_counters::add_one(counters_.expired);
        discard(s);
        return true;
    }
    s.used.store(now, mo::relaxed);  // T6
    evict_stale(*s.home, now);
    return false;
}

gift pool_core::examine(slot_base& s) noexcept {
    const std::int64_t now = has_upkeep_ ? time_now() : 0;
    bool is_fine = !has_upkeep_ || !is_stale(s, now);
    if (!is_fine) {
        pool_counters::add_one(counters_.expired);
    } else if (options_.check_after <= duration::zero() ||
               now - s.used.load(mo::relaxed) > options_.check_after.count()) {  // T6
        if (checks_async_) {
            return gift::unchecked;
        }
        try {
            is_fine = check(s);
        } catch (...) {
            is_fine = false;
            report(pool_operation::check, static_cast<int>(s.home->number), std::current_exception());
        }
        if (!is_fine) {
            pool_counters::add_one(counters_.checks_failed);
        }
    }
    if (!is_fine) {
        discard(s);
    }
    return is_fine ? gift::resource : gift::nothing;
}

void pool_core::check_aside(slot_base& s) noexcept {
    pool_effects fx;
    waiters_.lock();
    begin_check(s, nullptr, fx);
    unlock_and_run(fx);
}

void pool_core::evict_stale(pool_stripe& home, std::int64_t now) noexcept {
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
            pool_counters::add_one(counters_.expired);
            destroy_or_post(s);
        } else {  // used and returned between the check and the commit: the word is the same, the time is not
            keep_after_all(s);
        }
    }
}

// s was evicted but is not stale. Makes it idle again, because an eviction is not counted as work of the node. A waiter then
// takes it from there, which enters the node.
void pool_core::keep_after_all(slot_base& s) noexcept {
    pool_effects fx;
    waiters_.lock();
    const stripe_step step = s.home->commit([&](stripe_state x) { return stripe::bank(x, s.number); });
    fx.units += step.leave ? 1 : 0;
    if (step.effect == stripe_effect::destroy) {
        s.next_effect = std::exchange(fx.to_destroy, &s);
    }
    serve(fx);
    unlock_and_run(fx);
}

void pool_core::warm_up() noexcept {
    const pool_stats now = stats();
    for (std::uint32_t live = now.idle + now.out + now.busy; live < options_.warm; ++live) {
        if (!create_one()) {
            return;
        }
    }
}

bool pool_core::create_one() noexcept {
    slot_base* s = try_reserve();
    if (s == nullptr) {
        return false;
    }
    if (creates_async_) {
        pool_effects fx;
        s->next_effect = nullptr;
        fx.to_create = s;
        run_effects(fx);
        return true;
    }
    try {
        create_now(*s);
    } catch (...) {
        create_failed(*s, std::current_exception());
        return false;
    }
    created(*s);
    return true;
}

void pool_core::start_upkeep() noexcept {
    if (options_.timers == nullptr) {
        return;
    }
    duration period = duration::zero();
    for (const duration d : {options_.idle_ttl, options_.max_lifetime, options_.leak_after}) {
        if (d > duration::zero() && (period == duration::zero() || d < period)) {
            period = d;
        }
    }
    if (period == duration::zero()) {
        if (options_.warm == 0) {
            return;
        }
        period = std::chrono::seconds(1);
    }
    period = std::max<duration>(period / 4, std::chrono::milliseconds(1));
    waiters_.lock();
    bool go = !is_drained_;  // leaks are also reported while a closed pool drains
    if (go) {
        if (!std::exchange(upkeep_lives_, true)) {
            retain();
        }
        upkeep_.set_deadline(deadline_after(options_.timers->now(), period));
        go = options_.timers->arm(upkeep_);  // false if the timers are closed: upkeep ends
    }
    const bool ended = !go && std::exchange(upkeep_lives_, false);
    waiters_.unlock();
    if (ended) {
        release();
    }
}

// Counts as an aside: on_leak may be called after the last resource was returned, and closing waits for it.
void pool_core::maintain() noexcept {
    waiters_.lock();
    const bool go = !is_drained_;
    asides_ += go ? 1 : 0;
    waiters_.unlock();
    if (go) {
        look_after();
        end_aside();
    }
    start_upkeep();
}

void pool_core::look_after() noexcept {
    const std::int64_t now = time_now();
    for (unsigned i = 0; i < stripe_count_; ++i) {
        evict_stale(stripes_[i], now);
    }
    if (options_.leak_after > duration::zero()) {
        report_leaks(now);
    }
    pool_effects fx;
    waiters_.lock();
    serve(fx);  // a suspension may be over
    unlock_and_run(fx);
    warm_up();
}

void pool_core::report_leaks(std::int64_t now) noexcept {
    for (unsigned i = 0; i < stripe_count_; ++i) {
        for (unsigned n = 0; n < stripes_[i].slot_count; ++n) {
            slot_base& s = *stripes_[i].slots[n];
            const site where = s.where.load(mo::acquire);  // H2
            const std::int64_t since = s.since.load(mo::relaxed);  // T6
            const bool leaks = where.is_known() && since != 0 && now - since > options_.leak_after.count();
            if (!leaks) {
                s.leak_reported = false;
            } else if (!std::exchange(s.leak_reported, true)) {
                pool_counters::add_one(counters_.leaks);
                const char* who = s.who.load(mo::relaxed);  // T6
                try {
                    if (options_.on_leak) {
                        options_.on_leak(
                            pool_holder(who == nullptr ? "" : who, where, static_cast<int>(i), duration(now - since)));
                    }
                } catch (...) {
                    report(pool_operation::check, static_cast<int>(i), std::current_exception());
                }
            }
        }
    }
}

// Called under the lock when waiters may be left in the queue while creating is suspended. Arms a timer for the end of the
// suspension. Without timers the next acquire or return serves them.
void pool_core::serve_when_reopened() noexcept {
    if (options_.backoff.after == 0 || options_.timers == nullptr || waiters_.is_empty() || reopening_lives_ ||
        may_create()) {
        return;
    }
    const duration rest(closed_until_ - time_now());  // the clock may be coarse
    reopening_.set_deadline(deadline_after(options_.timers->now(), std::max<duration>(rest, std::chrono::milliseconds(1))));
    if (options_.timers->arm(reopening_)) {
        reopening_lives_ = true;
        retain();
    }
}

void pool_core::reopened() noexcept {
    pool_effects fx;
    waiters_.lock();
    reopening_lives_ = false;
    serve(fx);  // arms the timer again if creating is suspended again
    unlock_and_run(fx);
    release();
}

// Called when the pool is drained. If a timer has already fired, its posted work ends by itself.
void pool_core::end_upkeep() noexcept {
    waiters_.lock();
    const bool has_upkeep = upkeep_lives_;
    const bool has_reopening = reopening_lives_;
    waiters_.unlock();
    if (has_upkeep && options_.timers->disarm(upkeep_)) {
        release();
    }
    if (has_reopening && options_.timers->disarm(reopening_)) {
        release();
    }
}

}  // namespace roost::inline ROOST_ABI::detail
