#include <roost/pool/detail/pool_limits.hpp>

#include <roost/pool/detail/drop_limit.hpp>
#include <roost/pool/detail/pool_core.hpp>

#include <new>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

pool_limits::pool_limits(pool_life& life, pool_queue& queue, pool_creation& creation) noexcept
    : life_(life), queue_(queue), creation_(creation) {}

// --- attempts ----------------------------------------------------------------------------------------------------------------

void pool_limits::arm(slot_base& s, duration limit) noexcept {
    timer_service* const timers = life_.options().timers;
    if (limit <= duration::zero() || timers == nullptr) {
        return;
    }
    static_cast<void>(timers->disarm(s));  // blocks until an earlier limit's call has returned
    s.set_deadline(deadline_after(timers->now(), limit));
    queue_.lock();
    s.armed_attempt = s.attempt;
    s.was_armed = true;
    queue_.unlock();
    static_cast<void>(timers->arm(s));
}

void pool_limits::note_running(slot_base& s, std::uint32_t attempt, node& job) noexcept {
    queue_.lock();
    const bool is_late = s.attempt != attempt;
    if (!is_late) {
        s.running = node_ref<node>::share(job);
    }
    queue_.unlock();
    if (is_late) {
        job.cancel(reason::plain_kind(reason_kind::timeout));
    }
}

bool pool_limits::claim_attempt(slot_base& s, std::uint32_t attempt) noexcept {
    queue_.lock();
    const bool is_ours = s.attempt == attempt;
    node_ref<node> ended;
    if (is_ours) {  // else the slot belongs to another attempt by now
        ++s.attempt;
        ended = std::exchange(s.running, {});
    }
    const bool disarm = is_ours && std::exchange(s.was_armed, false);
    queue_.unlock();
    if (disarm) {
        static_cast<void>(life_.options().timers->disarm(s));
    }
    return is_ours;
}

// --- asides ------------------------------------------------------------------------------------------------------------------

void pool_limits::end_late() noexcept {
    pool_counters::add_one(life_.counters().ended_late);
    life_.end_aside();
}

void pool_limits::begin_drop() noexcept {
    pool_counters::add_one(life_.counters().drops);
    life_.begin_aside();
}

void pool_limits::end_drop() noexcept {
    pool_counters::add_one(life_.counters().ended_drops);
    life_.end_aside();
}

drop_limit* pool_limits::make_drop_limit() const noexcept {
    const pool_options& o = life_.options();
    return o.destroy_timeout <= duration::zero() || o.timers == nullptr ? nullptr : new (std::nothrow) drop_limit(*o.timers);
}

// --- the limit ---------------------------------------------------------------------------------------------------------------

slot_base::expiry_work::expiry_work(slot_base& s) noexcept
    : work(+[](work& w) noexcept {
          slot_base& mine = *static_cast<expiry_work&>(w).slot;
          mine.core->limits().expire_attempt(mine);
      }),
      slot(&s) {}

void slot_base::limit_passed(timer& t) noexcept {
    auto& s = static_cast<slot_base&>(t);
    s.core->limits().limit_passed(s);
}

void pool_limits::limit_passed(slot_base& s) noexcept {
    queue_.lock();
    const bool is_due = s.was_armed && s.attempt == s.armed_attempt;
    const bool post = is_due && !s.expiry.is_posted;
    if (is_due) {  // also while it is still posted for an attempt that has ended
        s.expiry.attempt = s.attempt;
        s.expiry.operation = s.is_checking   ? pool_error::step::check
                             : s.is_creating ? pool_error::step::create
                                             : pool_error::step::destroy;
    }
    if (post) {
        s.expiry.is_posted = true;
        life_.retain();
    }
    queue_.unlock();
    if (post) {
        post_or_fall_back(life_.options().where, s.expiry, life_.name());
    }
}

std::exception_ptr pool_limits::limit_error(int stripe, pool_error::step operation) const noexcept {
    try {
        return std::make_exception_ptr(
            pool_error(errc::timed_out, life_.name(), stripe, operation, "took longer than its limit"));
    } catch (...) {
        return std::current_exception();
    }
}

void pool_limits::expire_attempt(slot_base& s) noexcept {
    pool_effects fx;
    const int stripe = static_cast<int>(s.home->number);
    std::exception_ptr why;
    node_ref<node> late_job;
    queue_.lock();
    std::uint32_t attempt = 0;
    do {
        attempt = s.expiry.attempt;
        const pool_error::step late = s.expiry.operation;
        queue_.unlock();
        why = limit_error(stripe, late);
        queue_.lock();
    } while (s.expiry.attempt != attempt);  // the limit of the next attempt has passed as well
    const pool_error::step operation = s.expiry.operation;
    s.expiry.is_posted = false;
    const bool is_over = s.was_armed && s.attempt == attempt;
    if (is_over) {
        ++s.attempt;
        s.was_armed = false;
        late_job = std::exchange(s.running, {});
        pool_counters::add_one(life_.counters().abandoned);
        if (operation == pool_error::step::create) {
            creation_.note_failure(why);
        }
        life_.add_asides(2);  // the attempt until it ends, and the report
        s.is_checking = false;
        pool_waiter* const owner = pool_waiter::leave_owner(s);
        if (owner != nullptr && operation == pool_error::step::create) {
            owner->cause = why;
            queue_.give(*owner, gift::late, nullptr, fx);
        }
        queue_.empty(s, fx);
    }
    queue_.unlock_and_run(fx);
    if (late_job.get() != nullptr) {
        late_job->cancel(reason::plain_kind(reason_kind::timeout));
    }
    if (is_over) {
        life_.report(operation, stripe, why);
        life_.end_aside();
    }
    life_.release();
}

}  // namespace roost::inline ROOST_ABI::detail
