// The queue of a pool, and everything under its lock. See pool_core.hpp.

#include <roost/pool/detail/pool_core.hpp>

#include <roost/sync/detail/limits.hpp>

#include <utility>

namespace roost::inline ROOST_ABI::detail {

// --- giving: under the lock ----------------------------------------------------------------------------------------------

void pool_core::give(pool_waiter& w, gift what, slot_base* s, pool_effects& fx) noexcept {
    if (w.making != nullptr) {
        w.making->owner = nullptr;
        w.making = nullptr;
    }
    waiters_.take(w, claim::delivered);
    w.given = what;
    w.slot = s;
    if (!w.is_notified) {  // a thread that is already being unparked needs no second token
        fx.handed.add(w);
    }
    fx.only_gifts = fx.only_gifts && (what == gift::resource || what == gift::permit);
    if (what == gift::resource || what == gift::permit) {
        pool_counters::add_one_locked(counters_.handed_over);
    }
}

// Notifies the first waiter if it is a parked thread and a resource is idle. Returns true if so: the thread takes the resource
// by itself. Waking takes microseconds. Until then running threads may take the idle resource, a bounded number of times.
bool pool_core::notify_thread(pool_waiter& w, pool_effects& fx) noexcept {
    bool comes = w.is_thread() && w.overtaken < thread_patience;
    if (comes) {
        comes = false;
        for (unsigned i = 0; i < stripe_count_ && !comes; ++i) {
            comes = look(stripes_[i]).idle() != 0;
        }
    }
    may_barge_.store(comes, mo::relaxed);  // T8
    if (!comes) {
        return false;
    }
    w.overtaken = static_cast<std::uint8_t>(w.overtaken + 1);
    if (!std::exchange(w.is_notified, true)) {
        fx.called = &w;
    }
    return true;
}

pool_waiter* pool_core::first_without_creation() noexcept {
    auto* w = static_cast<pool_waiter*>(waiters_.front());
    while (w != nullptr && w->making != nullptr) {
        w = static_cast<pool_waiter*>(waiters_.next_of(*w));
    }
    return w;
}

void pool_core::create_for(pool_waiter& w, slot_base& s, pool_effects& fx) noexcept {
    if (!creates_async_) {
        give(w, gift::permit, &s, fx);
        return;
    }
    w.making = &s;
    s.owner = &w;
    s.next_effect = std::exchange(fx.to_create, &s);
}

// Requires that s is out. Makes it busy with its check.
void pool_core::begin_check(slot_base& s, pool_waiter* owner, pool_effects& fx) noexcept {
    s.home->commit([&](stripe_state x) { return stripe::discard(x, s.number); });
    s.is_checking = true;
    s.owner = owner;
    if (owner != nullptr) {
        owner->making = &s;
    }
    s.next_effect = std::exchange(fx.to_create, &s);
}

// Hands idle resources and rights to create to the first waiters.
void pool_core::serve(pool_effects& fx) noexcept {
    while (auto* first = static_cast<pool_waiter*>(waiters_.front())) {
        if (checks_async_ && first_without_creation() == nullptr) {
            break;  // every waiter has a check or creation under way
        }
        if (notify_thread(*first, fx)) {
            return;
        }
        if (slot_base* s = take_anywhere(true, &fx)) {
            give(*first, gift::resource, s, fx);
            continue;
        }
        pool_waiter* next = first_without_creation();
        slot_base* s = next != nullptr && may_create() ? reserve_anywhere(true, &fx) : nullptr;
        if (s == nullptr) {
            break;
        }
        create_for(*next, *s, fx);
    }
    fail_hopeless(fx);
    settle_queue(fx);
    serve_when_reopened();
}

// Called after a waiter was served. A suspension of creating may be over, so others may be served as well.
void pool_core::serve_the_rest(pool_effects& fx) noexcept {
    if (options_.backoff.after != 0) [[unlikely]] {
        serve(fx);
    } else {
        settle_queue(fx);
    }
}

// Fails all waiters if none can be served: an ancestor takes no more work, or creating is suspended and no resource is alive that
// could be returned.
void pool_core::fail_hopeless(pool_effects& fx) noexcept {
    const bool is_refused = is_above_closed_.load(mo::relaxed);  // T7
    if (!is_refused && (waiters_.is_empty() || may_create() || has_live())) {
        return;
    }
    while (auto* w = static_cast<pool_waiter*>(waiters_.front())) {
        w->cause = is_refused ? nullptr : last_failure_;
        give(*w, is_refused ? gift::stopped : gift::failed, nullptr, fx);
    }
}

bool pool_core::has_live() const noexcept {
    for (unsigned i = 0; i < stripe_count_; ++i) {
        if (look(stripes_[i]).live() != 0) {
            return true;
        }
    }
    return false;
}

void pool_core::mark_waited(bool waited) noexcept {
    is_waited_ = waited;
    for (unsigned i = 0; i < stripe_count_; ++i) {
        stripes_[i].commit([=](stripe_state s) { return stripe::wait(s, waited); });
    }
}

void pool_core::settle_queue(pool_effects&) noexcept {
    if (is_waited_ && waiters_.is_empty()) {
        may_barge_.store(false, mo::relaxed);  // T8
        mark_waited(false);
    }
}

// Requires that s is out. Hands it to the first waiter, or puts it back into its stripe.
void pool_core::put_locked(slot_base& s, pool_effects& fx) noexcept {
    auto* first = static_cast<pool_waiter*>(waiters_.front());
    const stripe_state now = look(*s.home);
    const bool is_wanted = first != nullptr && now.over() == 0;  // a closed pool has no waiters
    if (is_wanted && !(first->is_thread() && first->overtaken < thread_patience)) {
        may_barge_.store(false, mo::relaxed);  // T8
        give(*first, gift::resource, &s, fx);
        serve_the_rest(fx);
        return;
    }
    const stripe_step step = s.home->commit([&](stripe_state x) { return stripe::put(x, s.number); });
    fx.units += step.leave ? 1 : 0;
    if (step.effect == stripe_effect::destroy) {
        s.next_effect = std::exchange(fx.to_destroy, &s);
    }
    serve(fx);
}

// Requires that s is busy and empty. The right to create goes to the first waiter without one, else the slot goes back to its
// stripe.
void pool_core::empty_locked(slot_base& s, pool_effects& fx) noexcept {
    pool_waiter* next = first_without_creation();
    if (next != nullptr && may_create() && (!counts_ || enter_or_note())) {
        bool was_counted = false;
        const stripe_step step = s.home->commit([&](stripe_state x) {
            was_counted = x.is_counted();
            return stripe::recreate(x, s.number, counts_);
        });
        fx.units += counts_ && (was_counted || step.is_refused()) ? 1 : 0;
        if (!step.is_refused()) {
            create_for(*next, s, fx);
            serve_the_rest(fx);
            return;
        }
    }
    const stripe_step step = s.home->commit([&](stripe_state x) { return stripe::emptied(x, s.number); });
    fx.units += step.leave ? 1 : 0;
    fail_hopeless(fx);
    settle_queue(fx);
    serve_when_reopened();
    drain_if_done(fx);
}

void pool_core::drain_if_done(pool_effects& fx) noexcept {
    if (!is_closing_ || has_ended_) {
        return;
    }
    for (unsigned i = 0; i < stripe_count_ && !is_drained_; ++i) {
        if (!look(stripes_[i]).is_drained()) {
            return;
        }
    }
    fx.drained = !std::exchange(is_drained_, true);
    if (asides_ != 0) {
        asides_ += fx.drained ? 1 : 0;  // the end of upkeep
        return;
    }
    has_ended_ = true;
    fx.ended = true;
    closers_.lock();
    fx.closers = closers_.take_all();
    closers_.unlock();
}

void pool_core::unlock_and_run(pool_effects& fx) noexcept {
    const bool has_more = fx.called != nullptr || fx.to_create != nullptr || fx.to_destroy != nullptr || fx.drained ||
                          fx.ended || fx.units != 0;
    if (!has_more && fx.handed.is_empty()) {
        waiters_.unlock();  // the last access: the pool may be freed
        return;
    }
    if (!has_more && fx.only_gifts) {
        const std::string_view what = name();  // valid until the waiters in `handed` have run
        waiters_.unlock();
        fx.handed.deliver(what);
        return;
    }
    retain();
    waiters_.unlock();
    run_effects(fx);
    release();
}

// --- the operations --------------------------------------------------------------------------------------------------------

void pool_core::give_back_slow(slot_base& s) noexcept {
    pool_effects fx;
    waiters_.lock();
    put_locked(s, fx);
    unlock_and_run(fx);
}

// w took s, which must be checked first. Enqueues w: it may receive s, or another resource that is returned before. Returns false
// if newcomers are refused.
bool pool_core::enqueue_with_check(pool_waiter& w, slot_base& s, pool_effects& fx) noexcept {
    const bool is_queued = w.given == gift::nothing;
    if (is_queued) {
        if (waiters_.is_empty()) {
            mark_waited(true);
        }
        waiters_.push_back(w);
        begin_check(s, &w, fx);
    } else {
        put_locked(s, fx);
    }
    unlock_and_run(fx);
    return is_queued;
}

bool pool_core::enqueue(pool_waiter& w) noexcept {
    pool_effects fx;
    slot_base* const had = std::exchange(w.slot, nullptr);
    slot_base* const unchecked = w.given == gift::unchecked ? had : nullptr;
    waiters_.lock();
    w.given = refusal();
    if (unchecked != nullptr) {
        return enqueue_with_check(w, *unchecked, fx);
    }
    if (options_.backoff.after != 0) [[unlikely]] {
        serve(fx);  // the suspension in which waiters queued may be over
    }
    const bool was_empty = waiters_.is_empty();
    // All earlier waiters may have a check under way while another slot is idle or free.
    const bool is_next = was_empty || (checks_async_ && first_without_creation() == nullptr);
    if (w.given == gift::nothing && is_next) {
        if (was_empty) {
            mark_waited(true);
        }
        w.slot = pick(w.given, true, &fx);
        if (w.slot == nullptr) {
            w.given = refusal();  // entering the node may have failed
        }
        if (w.given == gift::nothing && w.slot == nullptr && !may_create() && !has_live()) {
            w.given = gift::failed;
            w.cause = last_failure_;
        }
    } else if (w.given == gift::nothing && creates_async_ && may_create()) {
        w.slot = reserve_anywhere(true, &fx);
    }
    if (w.given != gift::nothing) {
        settle_queue(fx);
        unlock_and_run(fx);
        return false;
    }
    waiters_.push_back(w);
    if (slot_base* s = std::exchange(w.slot, nullptr)) {
        create_for(w, *s, fx);
    }
    serve_when_reopened();
    unlock_and_run(fx);
    return true;
}

// Takes an idle resource, else the right to create. With an awaitable create the latter leaves `what` unchanged.
slot_base* pool_core::pick(gift& what, bool past_queue, pool_effects* fx) noexcept {
    if (slot_base* s = take_anywhere(past_queue, fx)) {
        what = gift::resource;
        return s;
    }
    slot_base* s = may_create() ? reserve_anywhere(past_queue, fx) : nullptr;
    if (s != nullptr && !creates_async_) {
        what = gift::permit;
    }
    return s;
}

bool pool_core::cancel(pool_waiter& w, claim as) noexcept {
    pool_effects fx;
    waiters_.lock();
    const bool claimed = waiters_.take_if_queued(w, as);
    if (claimed) {
        pool_counters::add_one_locked(counters_.withdrawn);
        if (w.making != nullptr) {
            w.making->owner = nullptr;  // the creation continues; its resource goes to the next waiter or becomes idle
            w.making = nullptr;
        }
        serve(fx);
    }
    unlock_and_run(fx);
    return claimed;
}

void pool_core::pass_on(pool_waiter& w) noexcept {
    slot_base* s = std::exchange(w.slot, nullptr);
    if (w.given == gift::resource) {
        give_back(*s);
    } else if (w.given == gift::permit) {
        emptied(*s);
    }
}

void pool_core::emptied(slot_base& s) noexcept {
    pool_effects fx;
    waiters_.lock();
    empty_locked(s, fx);
    unlock_and_run(fx);
}

void pool_core::refuse_all(gift why) noexcept {
    pool_effects fx;
    waiters_.lock();
    while (auto* w = static_cast<pool_waiter*>(waiters_.front())) {
        give(*w, why, nullptr, fx);
    }
    settle_queue(fx);
    unlock_and_run(fx);
}

}  // namespace roost::inline ROOST_ABI::detail
