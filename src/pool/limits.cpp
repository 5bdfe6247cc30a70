// Limits of creations, checks and destructions, and the asides that follow when one has passed. See pool_core.hpp.

#include <roost/pool/detail/drop_limit.hpp>
#include <roost/pool/detail/pool_core.hpp>

#include <new>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

void pool_core::begin_aside() noexcept {
    waiters_.lock();
    ++asides_;
    waiters_.unlock();
}

void pool_core::end_aside() noexcept {
    pool_effects fx;
    waiters_.lock();
    ROOST_ASSERT(asides_ != 0, "I8: an end without a beginning");
    --asides_;
    drain_if_done(fx);
    unlock_and_run(fx);
}

void pool_core::end_late() noexcept {
    pool_counters::add_one(counters_.ended_late);
    end_aside();
}

void pool_core::begin_drop() noexcept {
    pool_counters::add_one(counters_.drops);
    begin_aside();
}

void pool_core::end_drop() noexcept {
    pool_counters::add_one(counters_.ended_drops);
    end_aside();
}

drop_limit* pool_core::make_drop_limit() const noexcept {
    if (options_.destroy_timeout <= duration::zero() || options_.timers == nullptr) {
        return nullptr;
    }
    return new (std::nothrow) drop_limit(*options_.timers);
}

slot_base::expiry_work::expiry_work(slot_base& s) noexcept
    : work(+[](work& w) noexcept {
          slot_base& mine = *static_cast<expiry_work&>(w).slot;
          mine.core->expire_attempt(mine);
      }),
      slot(&s) {}

void slot_base::limit_passed(timer& t) noexcept {
    auto& s = static_cast<slot_base&>(t);
    s.core->limit_passed(s);
}

void pool_core::note_running(slot_base& s, std::uint32_t attempt, node& job) noexcept {
    waiters_.lock();
    const bool is_late = s.attempt != attempt;
    if (!is_late) {
        s.running = node_ref<node>::share(job);
    }
    waiters_.unlock();
    if (is_late) {
        job.cancel(reason::plain_kind(reason_kind::timeout));
    }
}

void pool_core::arm_attempt(slot_base& s, duration limit) noexcept {
    if (limit <= duration::zero() || options_.timers == nullptr) {
        return;
    }
    static_cast<void>(options_.timers->disarm(s));  // blocks until an earlier limit's call has returned
    s.set_deadline(deadline_after(options_.timers->now(), limit));
    waiters_.lock();
    s.armed_attempt = s.attempt;
    s.was_armed = true;
    waiters_.unlock();
    static_cast<void>(options_.timers->arm(s));
}

void pool_core::limit_passed(slot_base& s) noexcept {
    waiters_.lock();
    const bool is_due = s.was_armed && s.attempt == s.armed_attempt;
    const bool post = is_due && !s.expiry.is_posted;
    if (is_due) {  // also while it is still posted for an attempt that has ended
        s.expiry.attempt = s.attempt;
        s.expiry.operation = s.is_checking   ? pool_operation::check
                             : s.is_creating ? pool_operation::create
                                             : pool_operation::destroy;
    }
    if (post) {
        s.expiry.is_posted = true;
        retain();
    }
    waiters_.unlock();
    if (post) {
        post_or_fall_back(options_.where, s.expiry, name());
    }
}

std::exception_ptr pool_core::limit_error(int stripe, pool_operation operation) const noexcept {
    try {
        return std::make_exception_ptr(pool_error(errc::timed_out, name(), stripe, operation, "took longer than its limit"));
    } catch (...) {
        return std::current_exception();
    }
}

void pool_core::expire_attempt(slot_base& s) noexcept {
    pool_effects fx;
    const int stripe = static_cast<int>(s.home->number);
    std::exception_ptr why;
    node_ref<node> late_job;
    waiters_.lock();
    std::uint32_t attempt = 0;
    do {
        attempt = s.expiry.attempt;
        const pool_operation late = s.expiry.operation;
        waiters_.unlock();
        why = limit_error(stripe, late);
        waiters_.lock();
    } while (s.expiry.attempt != attempt);  // the limit of the next attempt has passed as well
    const pool_operation operation = s.expiry.operation;
    s.expiry.is_posted = false;
    const bool is_over = s.was_armed && s.attempt == attempt;
    if (is_over) {
        ++s.attempt;
        s.was_armed = false;
        late_job = std::exchange(s.running, {});
        pool_counters::add_one(counters_.abandoned);
        if (operation == pool_operation::create) {
            note_failure(why);
        }
        asides_ += 2;  // the attempt until it ends, and the report
        s.is_checking = false;
        if (pool_waiter* owner = std::exchange(s.owner, nullptr)) {
            owner->making = nullptr;
            if (operation == pool_operation::create) {
                owner->cause = why;
                give(*owner, gift::late, nullptr, fx);
            }
        }
        empty_locked(s, fx);
    }
    unlock_and_run(fx);
    if (late_job.get() != nullptr) {
        late_job->cancel(reason::plain_kind(reason_kind::timeout));
    }
    if (is_over) {
        report(operation, stripe, why);
        end_aside();
    }
    release();
}

}  // namespace roost::inline ROOST_ABI::detail
