// Order T8: pool/detail/pool_queue.hpp.

#include <roost/pool/detail/pool_queue.hpp>

#include <roost/pool/detail/pool_creation.hpp>
#include <roost/pool/detail/pool_life.hpp>
#include <roost/sync/detail/limits.hpp>

#include <utility>

namespace roost::inline ROOST_ABI::detail {

pool_queue::pool_queue(pool_life& life, pool_creation& creation) noexcept
    : life_(life), stripes_(life.stripes()), settings_(life.settings()), creation_(creation) {}

// --- giving: under the lock ----------------------------------------------------------------------------------------------

void pool_queue::give(pool_waiter& w, gift what, slot_base* s, pool_effects& fx) noexcept {
    w.leave_making();
    waiters_.take(w, claim::delivered);
    w.given = what;
    w.slot = s;
    if (!w.is_notified) {  // a thread that is already being unparked needs no second token
        fx.handed.add(w);
    }
    fx.only_gifts = fx.only_gifts && (what == gift::resource || what == gift::permit);
    if (what == gift::resource || what == gift::permit) {
        pool_counters::add_one_locked(life_.counters().handed_over);
    }
}

void pool_queue::give_all(gift what, pool_effects& fx) noexcept {
    while (pool_waiter* w = first()) {
        give(*w, what, nullptr, fx);
    }
    settle();
}

// Notifies the first waiter if it is a parked thread and a resource is idle. Returns true if so: the thread takes the resource
// by itself. Waking takes microseconds. Until then running threads may take the idle resource, a bounded number of times.
bool pool_queue::notify_thread(pool_waiter& w, pool_effects& fx) noexcept {
    const bool comes = w.is_thread() && w.overtaken < thread_patience && stripes_.has_idle();
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

pool_waiter* pool_queue::first_without_creation() noexcept {
    pool_waiter* w = first();
    while (w != nullptr && w->making != nullptr) {
        w = static_cast<pool_waiter*>(waiters_.next_of(*w));
    }
    return w;
}

void pool_queue::create_for(pool_waiter& w, slot_base& s, pool_effects& fx) noexcept {
    if (!settings_.creates_async) {
        give(w, gift::permit, &s, fx);
        return;
    }
    w.making = &s;
    s.owner = &w;
    fx.create(s);
}

// Requires that s is out. Makes it busy with its check.
void pool_queue::begin_check(slot_base& s, pool_waiter* owner, pool_effects& fx) noexcept {
    s.home->commit([&](stripe_state x) { return stripe::discard(x, s.number); });
    s.is_checking = true;
    s.owner = owner;
    if (owner != nullptr) {
        owner->making = &s;
    }
    fx.create(s);
}

void pool_queue::serve(pool_effects& fx) noexcept {
    while (pool_waiter* first_one = first()) {
        if (settings_.checks_async && first_without_creation() == nullptr) {
            break;  // every waiter has a check or creation under way
        }
        if (notify_thread(*first_one, fx)) {
            return;
        }
        if (slot_base* s = stripes_.take_anywhere(true, &fx.units)) {
            give(*first_one, gift::resource, s, fx);
            continue;
        }
        pool_waiter* next = first_without_creation();
        slot_base* s = next != nullptr && creation_.may_create() ? stripes_.reserve_anywhere(true, &fx.units) : nullptr;
        if (s == nullptr) {
            break;
        }
        create_for(*next, *s, fx);
    }
    fail_hopeless(fx);
    settle();
    serve_when_reopened();
}

// Called after a waiter was served. A suspension of creating may be over, so others may be served as well.
void pool_queue::serve_the_rest(pool_effects& fx) noexcept {
    if (settings_.has_backoff()) [[unlikely]] {
        serve(fx);
    } else {
        settle();
    }
}

void pool_queue::serve_when_reopened() noexcept {
    if (settings_.has_backoff() && !waiters_.is_empty()) [[unlikely]] {
        creation_.serve_when_reopened();
    }
}

// Fails all waiters if none can be served: an ancestor takes no more work, or creating is suspended and no resource is alive that
// could be returned.
void pool_queue::fail_hopeless(pool_effects& fx) noexcept {
    const bool is_refused = stripes_.is_above_closed();
    if (!is_refused && (waiters_.is_empty() || creation_.may_create() || stripes_.has_live())) {
        return;
    }
    while (pool_waiter* w = first()) {
        w->cause = is_refused ? nullptr : creation_.last_failure();
        give(*w, is_refused ? gift::stopped : gift::failed, nullptr, fx);
    }
}

void pool_queue::mark_waited(bool waited) noexcept {
    is_waited_ = waited;
    stripes_.mark_waited(waited);
}

void pool_queue::settle() noexcept {
    if (is_waited_ && waiters_.is_empty()) {
        may_barge_.store(false, mo::relaxed);  // T8
        mark_waited(false);
    }
}

void pool_queue::hand_over(slot_base& s, pool_effects& fx) noexcept {
    may_barge_.store(false, mo::relaxed);  // T8
    give(*first(), gift::resource, &s, fx);
    serve_the_rest(fx);
}

void pool_queue::put(slot_base& s, pool_effects& fx) noexcept {
    const pool_waiter* const first_one = first();
    const bool is_wanted = first_one != nullptr && s.home->look().over() == 0;  // a closed pool has no waiters
    if (is_wanted && !(first_one->is_thread() && first_one->overtaken < thread_patience)) {
        hand_over(s, fx);
        return;
    }
    fx.note(s.home->commit([&](stripe_state x) { return stripe::put(x, s.number); }), s);
    serve(fx);
}

void pool_queue::empty(slot_base& s, pool_effects& fx) noexcept {
    pool_waiter* next = first_without_creation();
    if (next != nullptr && creation_.may_create() && stripes_.try_recreate(s, fx.units)) {
        create_for(*next, s, fx);
        serve_the_rest(fx);
        return;
    }
    fx.note(s.home->commit([&](stripe_state x) { return stripe::emptied(x, s.number); }), s);
    fail_hopeless(fx);
    settle();
    serve_when_reopened();
    life_.drain_if_done(fx);
}

void pool_queue::unlock_and_run(pool_effects& fx) noexcept {
    const bool has_more = fx.called != nullptr || fx.to_create != nullptr || fx.to_destroy != nullptr || fx.drained ||
                          fx.ended || fx.units != 0;
    if (!has_more && fx.handed.is_empty()) {
        waiters_.unlock();  // the last access: the pool may be freed
        return;
    }
    pool_life& life = life_;
    if (!has_more && fx.only_gifts) {
        const std::string_view what = life.name();  // valid until the waiters in `handed` have run
        waiters_.unlock();
        fx.handed.deliver(what);
        return;
    }
    life.retain();
    waiters_.unlock();
    life.run_effects(fx);
    life.release();
}

// --- the operations --------------------------------------------------------------------------------------------------------

void pool_queue::put(slot_base& s) noexcept {
    pool_effects fx;
    waiters_.lock();
    put(s, fx);
    unlock_and_run(fx);
}

void pool_queue::emptied(slot_base& s) noexcept {
    pool_effects fx;
    waiters_.lock();
    empty(s, fx);
    unlock_and_run(fx);
}

void pool_queue::check_aside(slot_base& s) noexcept {
    pool_effects fx;
    waiters_.lock();
    begin_check(s, nullptr, fx);
    unlock_and_run(fx);
}

void pool_queue::serve() noexcept {
    pool_effects fx;
    waiters_.lock();
    serve(fx);
    unlock_and_run(fx);
}

void pool_queue::refuse_all(gift why) noexcept {
    pool_effects fx;
    waiters_.lock();
    give_all(why, fx);
    unlock_and_run(fx);
}

// w took s, which must be checked first. Enqueues w: it may receive s, or another resource that is returned before. Returns false
// if newcomers are refused.
bool pool_queue::enqueue_with_check(pool_waiter& w, slot_base& s, pool_effects& fx) noexcept {
    const bool is_queued = w.given == gift::nothing;
    if (is_queued) {
        if (waiters_.is_empty()) {
            mark_waited(true);
        }
        waiters_.push_back(w);
        begin_check(s, &w, fx);
    } else {
        put(s, fx);
    }
    unlock_and_run(fx);
    return is_queued;
}

bool pool_queue::enqueue(pool_waiter& w) noexcept {
    pool_effects fx;
    slot_base* const had = std::exchange(w.slot, nullptr);
    slot_base* const unchecked = w.given == gift::unchecked ? had : nullptr;
    waiters_.lock();
    w.given = life_.refusal();
    if (unchecked != nullptr) {
        return enqueue_with_check(w, *unchecked, fx);
    }
    if (settings_.has_backoff()) [[unlikely]] {
        serve(fx);  // the suspension in which waiters queued may be over
    }
    const bool was_empty = waiters_.is_empty();
    // All earlier waiters may have a check under way while another slot is idle or free.
    const bool is_next = was_empty || (settings_.checks_async && first_without_creation() == nullptr);
    if (w.given == gift::nothing && is_next) {
        if (was_empty) {
            mark_waited(true);
        }
        w.slot = pick(w.given, fx);
        if (w.slot == nullptr) {
            w.given = life_.refusal();  // entering the node may have failed
        }
        if (w.given == gift::nothing && w.slot == nullptr && !creation_.may_create() && !stripes_.has_live()) {
            w.given = gift::failed;
            w.cause = creation_.last_failure();
        }
    } else if (w.given == gift::nothing && settings_.creates_async && creation_.may_create()) {
        w.slot = stripes_.reserve_anywhere(true, &fx.units);
    }
    if (w.given != gift::nothing) {
        settle();
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
slot_base* pool_queue::pick(gift& what, pool_effects& fx) noexcept {
    if (slot_base* s = stripes_.take_anywhere(true, &fx.units)) {
        what = gift::resource;
        return s;
    }
    slot_base* s = creation_.may_create() ? stripes_.reserve_anywhere(true, &fx.units) : nullptr;
    if (s != nullptr && !settings_.creates_async) {
        what = gift::permit;
    }
    return s;
}

bool pool_queue::cancel(pool_waiter& w, claim as) noexcept {
    pool_effects fx;
    waiters_.lock();
    const bool claimed = waiters_.take_if_queued(w, as);
    if (claimed) {
        pool_counters::add_one_locked(life_.counters().withdrawn);
        w.leave_making();
        serve(fx);
    }
    unlock_and_run(fx);
    return claimed;
}

}  // namespace roost::inline ROOST_ABI::detail
