// Creating, destroying and closing. See pool_core.hpp.

#include <roost/base/failure_sink.hpp>
#include <roost/pool/detail/pool_core.hpp>

#include <utility>

namespace roost::inline ROOST_ABI::detail {

namespace {

// A creation that fails at once hands its right to the next waiter, whose creation may fail at once, and so on. The list avoids a
// recursion.
struct starter {
    slot_base* first = nullptr;
    bool is_running = false;
};
struct starter_tag;

}  // namespace

void pool_core::run_effects(pool_effects& fx) noexcept {
    const std::string_view what = name();
    if (fx.called != nullptr) {
        fx.called->run();
    }
    fx.handed.deliver(what);
    for (slot_base* s = fx.to_destroy; s != nullptr;) {
        destroy_or_post(*std::exchange(s, s->next_effect));
    }
    if (fx.to_create != nullptr) {
        starter& mine = thread_value<starter_tag, starter>::get();
        for (slot_base* s = fx.to_create; s != nullptr;) {
            slot_base* next = s->next_effect;
            s->next_effect = std::exchange(mine.first, s);
            s = next;
        }
        if (!std::exchange(mine.is_running, true)) {
            while (slot_base* s = mine.first) {
                mine.first = s->next_effect;
                s->core->start_creating(*s);
            }
            mine.is_running = false;
        }
    }
    for (; fx.units != 0; --fx.units) {
        leave();
    }
    if (fx.drained) {
        end_upkeep();
        if (!fx.ended) {
            end_aside();
        }
    }
    if (fx.ended) {
        fx.closers.deliver(what);
        release();  // the reference that an open pool holds to itself
    }
}

// --- creating ----------------------------------------------------------------------------------------------------------------

void pool_core::note_created(slot_base& s) noexcept {
    pool_counters::add_one(counters_.created);
    if (options_.max_lifetime > duration::zero()) {
        const double share = 1.0 - options_.lifetime_jitter * static_cast<double>(random_u64() >> 11U) * 0x1p-53;
        const auto life = static_cast<std::int64_t>(static_cast<double>(options_.max_lifetime.count()) * share);
        s.expires.store(time_now() + (life > 0 ? life : 1), mo::relaxed);  // T6
    }
}

bool pool_core::may_create() noexcept {
    return options_.backoff.after == 0 || failures_ < options_.backoff.after || time_now() >= closed_until_;
}

void pool_core::note_failure(const std::exception_ptr& why) noexcept {
    pool_counters::add_one(counters_.create_failures);
    const create_backoff& b = options_.backoff;
    if (b.after == 0) {
        return;
    }
    last_failure_ = why;
    if (++failures_ >= b.after) {
        duration pause = b.first;
        for (std::uint32_t i = b.after; i < failures_ && pause < b.most; ++i) {
            pause *= 2;
        }
        closed_until_ = time_now() + (pause < b.most || b.most == duration::zero() ? pause : b.most).count();
    }
}

bool pool_core::create_here(pool_waiter& w) noexcept {
    slot_base& s = *w.slot;
    try {
        create_now(s);
    } catch (...) {
        const std::exception_ptr why = std::current_exception();
        w.cause = why;
        pool_effects fx;
        waiters_.lock();
        note_failure(why);
        empty_locked(s, fx);
        unlock_and_run(fx);
        return false;
    }
    note_created(s);
    s.home->commit([&](stripe_state x) { return stripe::made(x, s.number); });
    if (options_.backoff.after != 0) {
        pool_effects fx;
        waiters_.lock();
        failures_ = 0;
        serve(fx);  // waiters that queued because of the failures
        unlock_and_run(fx);
    }
    return true;
}

void pool_core::start_creating(slot_base& s) noexcept {
    const std::uint32_t attempt = s.attempt;
    if (s.is_checking) {
        start_check(s, attempt);
        return;
    }
    s.is_creating = true;
    arm_attempt(s, options_.create_timeout);
    start_create(s, attempt);
}

bool pool_core::claim_attempt(slot_base& s, std::uint32_t attempt) noexcept {
    waiters_.lock();
    const bool is_ours = s.attempt == attempt;
    node_ref<node> ended;
    if (is_ours) {  // else the slot belongs to another attempt by now
        ++s.attempt;
        ended = std::exchange(s.running, {});
    }
    const bool disarm = is_ours && std::exchange(s.was_armed, false);
    waiters_.unlock();
    if (disarm) {
        static_cast<void>(options_.timers->disarm(s));
    }
    return is_ours;
}

void pool_core::created(slot_base& s) noexcept {
    note_created(s);
    offer(s, true);
}

void pool_core::checked(slot_base& s) noexcept { offer(s, false); }

void pool_core::end_failed_check(slot_base& s) noexcept {
    pool_counters::add_one(counters_.checks_failed);
    waiters_.lock();
    s.is_checking = false;
    if (pool_waiter* owner = std::exchange(s.owner, nullptr)) {
        owner->making = nullptr;  // it keeps waiting, for a returned resource or for the right to create in this slot
    }
    waiters_.unlock();
}

void pool_core::check_failed(slot_base& s) noexcept {
    end_failed_check(s);
    destroy_or_post(s);
}

void pool_core::check_lost(slot_base& s) noexcept {
    end_failed_check(s);
    pool_counters::add_one(counters_.destroyed);
    s.is_creating = false;
    emptied(s);
}

// s is busy and ready for use. Hands it to the first waiter, else makes it idle.
void pool_core::offer(slot_base& s, bool is_new) noexcept {
    pool_effects fx;
    waiters_.lock();
    failures_ = is_new ? 0 : failures_;
    const bool was_checked = std::exchange(s.is_checking, false);
    if (pool_waiter* owner = std::exchange(s.owner, nullptr)) {
        owner->making = nullptr;
    }
    const bool is_wanted = !waiters_.is_empty();
    const stripe_step step =
        s.home->commit([&](stripe_state x) { return is_wanted ? stripe::made(x, s.number) : stripe::bank(x, s.number); });
    fx.units += step.leave ? 1 : 0;
    if (is_wanted && was_checked) {  // handed off directly: through the stripe it would be checked again
        may_barge_.store(false, mo::relaxed);  // T8
        give(*static_cast<pool_waiter*>(waiters_.front()), gift::resource, &s, fx);
        serve_the_rest(fx);
    } else if (is_wanted) {
        put_locked(s, fx);
    } else {
        s.used.store(has_upkeep_ ? time_now() : 0, mo::relaxed);  // T6
        if (step.effect == stripe_effect::destroy) {
            s.next_effect = std::exchange(fx.to_destroy, &s);
        }
    }
    unlock_and_run(fx);
}

void pool_core::create_failed(slot_base& s, std::exception_ptr why) noexcept {
    const int stripe = static_cast<int>(s.home->number);
    pool_effects fx;
    retain();
    waiters_.lock();
    note_failure(why);
    pool_waiter* owner = std::exchange(s.owner, nullptr);
    if (owner != nullptr) {
        owner->making = nullptr;
        owner->cause = why;
        give(*owner, gift::failed, &s, fx);
    }
    asides_ += owner == nullptr ? 1 : 0;  // the report
    empty_locked(s, fx);
    unlock_and_run(fx);
    if (owner == nullptr) {
        report(pool_operation::create, stripe, why);
        end_aside();
    }
    release();
}

// --- destroying --------------------------------------------------------------------------------------------------------------

void pool_core::discard(slot_base& s) noexcept {
    s.where.store(site(), mo::relaxed);  // T6
    s.home->commit([&](stripe_state x) { return stripe::discard(x, s.number); });
    destroy_or_post(s);
}

void pool_core::destroy_or_post(slot_base& s) noexcept {
    s.is_creating = false;
    if (!options_.where) {
        start_destroying(s);
        return;
    }
    s.set_run(+[](work& w) noexcept {
        auto& me = static_cast<slot_base&>(w);
        me.core->start_destroying(me);
    });
    post_or_fall_back(options_.where, s, name());
}

void pool_core::start_destroying(slot_base& s) noexcept {
    pool_counters::add_one(counters_.destroyed);
    destroy_now(s, s.attempt);
}

std::exception_ptr pool_core::error_at(int stripe, pool_operation operation, const std::exception_ptr& why) const noexcept {
    try {
        std::rethrow_exception(why);
    } catch (const pool_error&) {
        return why;  // has pool and operation already
    } catch (...) {
        try {
            return std::make_exception_ptr(pool_error(errc::broken, name(), stripe, operation, "", why));
        } catch (...) {
            return why;  // no memory for the wrapper
        }
    }
}

void pool_core::report(pool_operation operation, int stripe, const std::exception_ptr& why) noexcept {
    if (!options_.on_error) {
        report_failure("pool", name(), made_at(), error_at(stripe, operation, why));
        return;
    }
    try {
        options_.on_error(pool_error(errc::broken, name(), stripe, operation, "", why));
    } catch (...) {
        // An exception of the hook must not affect the pool.
        report_failure("on_error of pool", name(), made_at(), std::current_exception());
    }
}

}  // namespace roost::inline ROOST_ABI::detail
