// Order T6: pool/detail/slot.hpp.

#include <roost/pool/detail/pool_creation.hpp>

#include <roost/pool/detail/pool_core.hpp>

#include <algorithm>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

pool_creation::pool_creation(pool_life& life, pool_queue& queue, pool_limits& limits) noexcept
    : life_(life), settings_(life.settings()), queue_(queue), limits_(limits), reopening_(*this, life) {}

// --- the suspension of creating ----------------------------------------------------------------------------------------------

bool pool_creation::may_create() const noexcept {
    const pool_options::create_backoff& b = settings_.options.backoff;
    return b.after == 0 || failures_ < b.after || settings_.time_now() >= suspended_until_;
}

void pool_creation::note_failure(const std::exception_ptr& why) noexcept {
    pool_counters::add_one(life_.counters().create_failures);
    const pool_options::create_backoff& b = settings_.options.backoff;
    if (b.after == 0) {
        return;
    }
    last_failure_ = why;
    if (++failures_ >= b.after) {
        duration pause = b.first;
        for (std::uint32_t i = b.after; i < failures_ && pause < b.most; ++i) {
            pause *= 2;
        }
        suspended_until_ = settings_.time_now() + (pause < b.most || b.most == duration::zero() ? pause : b.most).count();
    }
}

bool pool_creation::is_suspended(std::exception_ptr& why) noexcept {
    if (!settings_.has_backoff()) {
        return false;
    }
    queue_.lock();
    bool is_kept_back = false;
    if (!may_create()) {
        is_kept_back = life_.stripes().has_free();
        why = last_failure_;
    }
    queue_.unlock();
    return is_kept_back;
}

void pool_creation::serve_when_reopened() noexcept {
    timer_service* const timers = settings_.options.timers;
    if (timers == nullptr || reopening_lives_ || may_create()) {
        return;
    }
    const duration rest(suspended_until_ - settings_.time_now());  // the clock may be coarse
    reopening_.set_deadline(deadline_after(timers->now(), std::max<duration>(rest, std::chrono::milliseconds(1))));
    if (timers->arm(reopening_)) {
        reopening_lives_ = true;
        life_.retain();
    }
}

void pool_creation::reopened() noexcept {
    pool_effects fx;
    queue_.lock();
    reopening_lives_ = false;
    queue_.serve(fx);  // arms the timer again if creating is suspended again
    queue_.unlock_and_run(fx);
    life_.release();
}

// If the timer has already fired, its posted work ends by itself.
void pool_creation::end() noexcept {
    queue_.lock();
    const bool is_armed = reopening_lives_;
    queue_.unlock();
    if (is_armed && settings_.options.timers->disarm(reopening_)) {
        life_.release();
    }
}

// --- creating ----------------------------------------------------------------------------------------------------------------

slot_base* pool_creation::try_reserve() noexcept {
    if (settings_.has_backoff()) {
        queue_.lock();
        const bool may = may_create();
        queue_.unlock();
        if (!may) {
            return nullptr;
        }
    }
    return life_.stripes().reserve_anywhere(false, nullptr);
}

inline void pool_creation::note_created(slot_base& s) noexcept {
    pool_counters::add_one(life_.counters().created);
    const pool_options& o = settings_.options;
    if (o.max_lifetime > duration::zero()) [[unlikely]] {
        const double share = 1.0 - o.lifetime_jitter * static_cast<double>(random_u64() >> 11U) * 0x1p-53;
        const auto life = static_cast<std::int64_t>(static_cast<double>(o.max_lifetime.count()) * share);
        s.expires.store(settings_.time_now() + (life > 0 ? life : 1), mo::relaxed);  // T6
    }
}

bool pool_creation::create_here(pool_waiter& w) noexcept {
    slot_base& s = *w.slot;
    try {
        life_.create_now(s);
    } catch (...) {
        const std::exception_ptr why = std::current_exception();
        w.cause = why;
        pool_effects fx;
        queue_.lock();
        note_failure(why);
        queue_.empty(s, fx);
        queue_.unlock_and_run(fx);
        return false;
    }
    note_created(s);
    s.home->commit([&](stripe_state x) { return stripe::made(x, s.number); });
    if (settings_.has_backoff()) {
        pool_effects fx;
        queue_.lock();
        failures_ = 0;
        queue_.serve(fx);  // waiters that queued because of the failures
        queue_.unlock_and_run(fx);
    }
    return true;
}

bool pool_creation::create_one() noexcept {
    slot_base* s = try_reserve();
    if (s == nullptr) {
        return false;
    }
    if (settings_.creates_async) {
        s->next_effect = nullptr;
        start(s);
        return true;
    }
    try {
        life_.create_now(*s);
    } catch (...) {
        create_failed(*s, std::current_exception());
        return false;
    }
    created(*s);
    return true;
}

namespace {

// A creation that fails at once hands its right to the next waiter, whose creation may fail at once, and so on. The list avoids a
// recursion.
struct starter {
    slot_base* first = nullptr;
    bool is_running = false;
};
struct starter_tag;

}  // namespace

void pool_creation::start(slot_base* first) noexcept {
    starter& mine = thread_value<starter_tag, starter>::get();
    for (slot_base* s = first; s != nullptr;) {
        slot_base* next = s->next_effect;
        s->next_effect = std::exchange(mine.first, s);
        s = next;
    }
    if (!std::exchange(mine.is_running, true)) {
        while (slot_base* s = mine.first) {
            mine.first = s->next_effect;
            s->core->creation().start_one(*s);
        }
        mine.is_running = false;
    }
}

void pool_creation::start_one(slot_base& s) noexcept {
    const std::uint32_t attempt = s.attempt;
    if (s.is_checking) {
        life_.start_check(s, attempt);
        return;
    }
    s.is_creating = true;
    limits_.arm(s, settings_.options.create_timeout);
    life_.start_create(s, attempt);
}

void pool_creation::created(slot_base& s) noexcept {
    note_created(s);
    offer(s, true);
}

void pool_creation::create_failed(slot_base& s, std::exception_ptr why) noexcept {
    const int stripe = static_cast<int>(s.home->number);
    pool_effects fx;
    life_.retain();
    queue_.lock();
    note_failure(why);
    pool_waiter* const owner = pool_waiter::leave_owner(s);
    if (owner != nullptr) {
        owner->cause = why;
        queue_.give(*owner, gift::failed, &s, fx);
    }
    life_.add_asides(owner == nullptr ? 1 : 0);  // the report
    queue_.empty(s, fx);
    queue_.unlock_and_run(fx);
    if (owner == nullptr) {
        life_.report(pool_error::step::create, stripe, why);
        life_.end_aside();
    }
    life_.release();
}

// s is busy and ready for use. Hands it to the first waiter, else makes it idle.
void pool_creation::offer(slot_base& s, bool is_new) noexcept {
    pool_effects fx;
    queue_.lock();
    failures_ = is_new ? 0 : failures_;
    const bool was_checked = std::exchange(s.is_checking, false);
    pool_waiter::leave_owner(s);
    const bool is_wanted = !queue_.is_empty();
    const stripe_step step =
        s.home->commit([&](stripe_state x) { return is_wanted ? stripe::made(x, s.number) : stripe::bank(x, s.number); });
    if (is_wanted && was_checked) {  // handed off directly: through the stripe it would be checked again
        queue_.hand_over(s, fx);
    } else if (is_wanted) {
        queue_.put(s, fx);
    } else {
        s.used.store(settings_.has_upkeep ? settings_.time_now() : 0, mo::relaxed);  // T6
        fx.note(step, s);
    }
    queue_.unlock_and_run(fx);
}

// --- checking ----------------------------------------------------------------------------------------------------------------

void pool_creation::checked(slot_base& s) noexcept { offer(s, false); }

void pool_creation::end_failed_check(slot_base& s) noexcept {
    pool_counters::add_one(life_.counters().checks_failed);
    queue_.lock();
    s.is_checking = false;
    pool_waiter::leave_owner(s);  // it keeps waiting, for a returned resource or for the right to create in this slot
    queue_.unlock();
}

void pool_creation::check_failed(slot_base& s) noexcept {
    end_failed_check(s);
    destroy(s);
}

void pool_creation::check_lost(slot_base& s) noexcept {
    end_failed_check(s);
    pool_counters::add_one(life_.counters().destroyed);
    s.is_creating = false;
    queue_.emptied(s);
}

// --- destroying --------------------------------------------------------------------------------------------------------------

void pool_creation::discard(slot_base& s) noexcept {
    s.where.store(site(), mo::relaxed);  // T6
    s.home->commit([&](stripe_state x) { return stripe::discard(x, s.number); });
    destroy(s);
}

void pool_creation::destroy(slot_base& s) noexcept {
    s.is_creating = false;
    if (!settings_.options.where) {
        start_destroying(s);
        return;
    }
    s.set_run(+[](work& w) noexcept {
        auto& me = static_cast<slot_base&>(w);
        me.core->creation().start_destroying(me);
    });
    post_or_fall_back(settings_.options.where, s, life_.name());
}

void pool_creation::start_destroying(slot_base& s) noexcept {
    pool_counters::add_one(life_.counters().destroyed);
    life_.destroy_now(s, s.attempt);
}

}  // namespace roost::inline ROOST_ABI::detail
