#include <roost/tree/detail/callback_member.hpp>

#include <roost/tree/detail/node_access.hpp>

#include <climits>

// Callbacks of a node.
//
// 1. Why it is not simpler. The object belongs to the code that registered it and may be destroyed at any time, also by its own
//    run function and while a raise is about to call it. So it is claimed under the owner's lock, leaves the list there, and
//    remove() waits for a claimed one. If the runner is the thread that removes, there is no wait: a flag on the runner's
//    stack is set instead.
//
// 3. States   idle     not registered
//             listed   in the owner's list
//             running  claimed; out of the list; belongs to the runner until done
//             done     ran, or was removed before it could
//             + awaited: a thread is blocked until done
//    All changes are made under the owner's lock, which the runner takes again anyway to go on with its walk.
//
// 5. Field access   runner_, gone_: the runner; runner_ is also read by remove() after it saw `running` under the lock
//
// 7. Ordering table
// id  operation                  order    pairs  carries                                          fails in
// C1  under the owner's lock     relaxed  -      the lock orders it                               (floor)
// C2  finish: store done         release  C3     everything run did                               callback_member_model: remove_waits
// C3  remove: load               acquire  C2     everything run did                               callback_member_model: remove_waits
// C5  add: load level            seq_cst  L5     with N3: listed, then looks                      callback_member_model: add_to_leaf

namespace roost::inline ROOST_ABI::detail {

using access = node_access;

void callback_member::add(node& to) noexcept {
    owner_ = &to;
    access::lock_of(to).lock();
    state_.store(listed, mo::relaxed);  // C1
    access::members_of(to).push_back(*this);
    const bool now = claim_reached(to);
    access::lock_of(to).unlock();
    if (now) {
        run_claimed(to);
    }
}

// Requires that it is listed and the owner's lock is held.
bool callback_member::claim_reached(node& of) noexcept {
    const level_word seen = access::level_of(of).load(mo::seq_cst);  // C5
    const bool now = effective_level(seen) >= at_;
    if (now) {
        access::members_of(of).erase(*this);
        runner_ = thread_index();
        state_.store(running, mo::relaxed);  // C1
    }
    return now;
}

void callback_member::run_claimed(node& of) noexcept {
    if (fire()) {
        access::lock_of(of).lock();
        finish();
        access::lock_of(of).unlock();
    }
}

// A cancelled frame removes its callback because the level has been reached, and may come before the walk that raises.
void callback_member::run_if_reached() noexcept {
    if (owner_ == nullptr) {
        return;
    }
    node& owner = *owner_;
    access::lock_of(owner).lock();
    const bool now = state_.load(mo::relaxed) == listed && claim_reached(owner);  // C1
    access::lock_of(owner).unlock();
    if (now) {
        run_claimed(owner);
    }
}

bool callback_member::claim(level l, std::uint32_t runner) noexcept {
    if (l < at_ || state_.load(mo::relaxed) != listed) {  // C1
        return false;
    }
    runner_ = runner;
    state_.store(running, mo::relaxed);  // C1
    return true;
}

bool callback_member::fire() noexcept {
    bool gone = false;
    gone_ = &gone;
    run_(*this);
    return !gone;
}

void callback_member::finish() noexcept {
    const atomic<std::uint32_t>* address = &state_;
    const bool is_awaited = (state_.load(mo::relaxed) & awaited) != 0;  // C1
    state_.store(done, mo::release);  // C2
    if (is_awaited) [[unlikely]] {
        wake_on(address, INT_MAX);
    }
}

bool callback_member::remove() noexcept {
    if (owner_ == nullptr) {
        return true;
    }
    node& owner = *std::exchange(owner_, nullptr);
    access::lock_of(owner).lock();
    const std::uint32_t state = state_.load(mo::relaxed);  // C1
    if (state == listed) {
        access::members_of(owner).erase(*this);
        state_.store(done, mo::relaxed);  // C1
        access::lock_of(owner).unlock();
        return true;
    }
    const bool is_running = (state & running) != 0 && state != done;
    const bool by_me = is_running && runner_ == thread_index();
    if (is_running && !by_me) {
        state_.store(running | awaited, mo::relaxed);  // C1
    }
    access::lock_of(owner).unlock();
    if (by_me) {
        *gone_ = true;
        return false;
    }
    while (state_.load(mo::acquire) != done) {  // C3
        wait_on(state_, running | awaited);
    }
    return false;
}

}  // namespace roost::inline ROOST_ABI::detail
