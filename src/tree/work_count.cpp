#include <roost/tree/detail/node.hpp>

#include <roost/base/assert.hpp>
#include <roost/tree/detail/node_access.hpp>
#include <roost/tree/detail/work_packed.hpp>

// Counting work up the tree.
//
// 1. Why it is not simpler. "The thread that moves a node off zero tells the parent" loses units: A takes 0 -> 1 and stalls
//    before it has reached the parent; B takes 1 -> 2, sees that another thread announces, and returns a unit that no ancestor
//    counts; a drain of the root then ends with B's work in flight (docs/design/guard-counting.md). So a thread that finds the
//    node unannounced announces it before it returns; a second announcement is given back.
//    And the thread that takes the last unit must not touch the node afterwards unless something holds it. Hence one
//    commit drops the unit, withdraws the announcement and, if drained() is to be called, turns the unit into a
//    reference.
//
// 2.-3. Word and transitions: tree/detail/work_state.hpp, work_packed.hpp. 4. Announcing, seen from one creator at node n:
//
//      n: +1 unit --announced--> return                                         (fast path: one fetch_add)
//                 --not announced--> climb: +1 unit on each ancestor up to the first announced one   (pass 1)
//                                    then mark n and every ancestor passed as announced              (pass 2)
//                                    a node that was marked already: -1 unit on its parent again
//
//    After pass 1 every ancestor of n has a unit that stays at least until this creator returns, so pass 2 may mark in any
//    order; it goes bottom up, because going down would need the path.
//
// 6. Invariants
//    I7  announced(x) implies that x's parent holds a unit for x
//    I8  announced(x) and units(x) > 0 imply that every ancestor of x has a unit
//    I9  a unit given back in pass 2 is never its node's last
//
// 7. Ordering table
// id  operation                        order            pairs     carries                                        fails in
// W1  enter: fetch_add                 acquire          W8        in: the units of pass 1 at every ancestor      work_model: visible_at_root
// W2  leave, not the last: CAS         release/relaxed  W3 W5     out: the work done                             work_model: two_workers
// W3  commit: CAS                      acq_rel/relaxed  W2 W3     in: all other work; out: the work done           work_model: drain_sees_work
// W4  commit: load                     relaxed          -         only a first guess for the CAS                 (floor)
// W5  has_work, units...: load         acquire          W2        all other work                                 work_model: drain_sees_work
// W7  watch: fetch_or                  release          W3        out: what the watcher registered before        work_model: watch_against_last_unit
// W8  pass 2: fetch_or                 release          W1 W3     out: the units of pass 1                       work_model: visible_at_root
// W9  pass 2, given back: fetch_sub    relaxed          -         never the last (I9), so no thread acts on it   (floor)
// W10  pass 1: CAS                     acquire          W8        in: what the announced ancestor's creator put  work_model: visible_at_root
// W11  mix: fetch_or                   relaxed          -         divides the view's units in one order; nothing else  (floor)

namespace roost::inline ROOST_ABI {

using namespace seam;

using namespace detail;
using access = node_access;

namespace {

template <class Decide>
work_action commit(atomic<work_word>& word, Decide decide) noexcept {
    work_word seen = word.load(mo::relaxed);  // W4
    for (;;) {
        const work_step s = decide(work_state::unpack(seen));
        if (!s.next) {
            return s.action;
        }
        ROOST_ASSERT(s.next->is_valid(), "I2: the work word left its states");
        if (word.compare_exchange_weak(seen, s.next->pack(), mo::acq_rel, mo::relaxed)) {  // W3
            return s.action;
        }
    }
}

work_action commit_drain(atomic<work_word>& word, bool is_root) noexcept {
    work_word seen = word.load(mo::relaxed);  // W4
    while (!word.compare_exchange_weak(seen, after_drain(seen, is_root), mo::acq_rel, mo::relaxed)) {  // W3
    }
    return action_of_drain(seen, is_root);
}

}  // namespace

void detail::node::enter_slow(work_word before) noexcept {
    if (work_state::unpack(before).units >= unit_limit) {
        detail::panic(functions_->kind, name(), made_at_, "it has more units of work than can be counted");
    }
    if (!announce()) {
        for (const detail::node* up = parent_; up != nullptr; up = up->parent_) {
            if (up->units() >= unit_limit) {
                detail::panic(up->functions_->kind, up->name(), up->made_at_,
                              "it has more units of work than can be counted");
            }
        }
        detail::panic(functions_->kind, name(), made_at_, "work was added below a node that is closed; use try_enter()");
    }
}

// Requires that the caller holds a unit of this node. Returns false if an ancestor is closed; everything but the caller's
// unit is given back then.
bool detail::node::announce() noexcept {
    detail::node* top = this;
    bool refused = false;
    for (;;) {
        detail::node* up = top->parent_;
        work_word seen = up->work_.load(mo::relaxed);  // W4
        do {
            refused = (seen & closed_bit) != 0 || seen >= unit_limit * one_unit;
        } while (!refused && !up->work_.compare_exchange_weak(seen, seen + one_unit, mo::acquire, mo::relaxed));  // W10
        if (refused || (seen & announced_bit) != 0) {
            break;
        }
        top = up;
    }
    if (refused) {
        for (detail::node* n = this; n != top; n = n->parent_) {
            n->parent_->leave();
        }
        return false;
    }
    for (detail::node* n = this;; n = n->parent_) {
        const work_word before = n->work_.fetch_or(announced_bit, mo::release);  // W8
        if ((before & announced_bit) != 0) {
            [[maybe_unused]] const work_word units = n->parent_->work_.fetch_sub(one_unit, mo::relaxed);  // W9
            ROOST_ASSERT(work_state::unpack(units).units > 1, "I9: a duplicate announcement was a node's only unit");
        }
        if (n == top) {
            return true;
        }
    }
}

void detail::node::mix() noexcept {
    if ((work_.load(mo::relaxed) & mixed_bit) == 0) {  // W4
        const work_word before = work_.fetch_or(mixed_bit, mo::relaxed);  // W11
        if ((before & mixed_bit) == 0) {
            functions_->mixed(*this, work_state::unpack(before).units);
        }
    }
}

bool detail::node::try_enter() noexcept {
    if (functions_->mixed != nullptr) {
        mix();
    }
    bool was_mixed = false;
    return try_enter_own(was_mixed);
}

bool detail::node::try_enter_as_member() noexcept {
    if (functions_->mixed != nullptr) {
        mix();
    }
    const work_action a = commit(work_, [](work_state s) { return detail::try_enter_as_member(s); });
    if (a.refused) {
        return false;
    }
    if (a.announce && !announce()) {
        leave();
        return false;
    }
    return true;
}

bool detail::node::try_enter_own(bool& was_mixed) noexcept {
    const work_action a = commit(work_, [&was_mixed](work_state s) {
        was_mixed = s.mixed;
        return detail::try_enter(s);
    });
    if (a.refused) {
        return false;
    }
    if (a.announce && !announce()) {
        leave();
        return false;
    }
    return true;
}

// Removes a unit where that is no quiet leave (leaves_quietly); the announcement still holds the parent's unit. Refused if
// the word has one of the bits of `unless`.
work_action detail::node::leave_commit(work_word seen, work_word unless) noexcept {
    const bool is_root = parent_ == nullptr;
    for (;;) {
        if ((seen & unless) != 0) {
            return work_action{.refused = true};
        }
        work_word next = 0;
        work_action action;
        if (leaves_simply(seen, is_root)) [[likely]] {
            next = after_simple_leave(seen);
            action = action_of_simple_leave(seen);
        } else {
            const work_step s = detail::leave(work_state::unpack(seen), is_root);
            next = s.next->pack();
            action = s.action;
        }
        if (work_.compare_exchange_weak(seen, next, mo::acq_rel, mo::relaxed)) {  // W3
            return action;
        }
    }
}

bool detail::node::leave_last(work_word seen, work_word unless) noexcept {
    ROOST_ASSERT((seen >> 32U) != 0, "a unit of work was given back that was not taken");
    detail::node* up = parent_;  // the commit may let the node go
    const work_action a = leave_commit(seen, unless);
    if (a.drained || a.leave_parent || a.dead) {
        after_work(up, a);
    }
    return !a.refused;
}

// Carries out the action of a commit on this node, and climbs as long as nodes run out of work. `this` may be gone unless the
// action holds it; the parent is held by the unit that is still to be given back. At most one node of a climb dies. It holds
// a reference on its parent until it is disposed of, at the end, when nothing above needs it any more.
void detail::node::after_work(detail::node* up, work_action a) noexcept {
    detail::node* dead = a.dead ? this : nullptr;
    detail::node* n = this;
    for (;;) {
        if (a.drained) {
            if (n->functions_->drained != nullptr && !n->functions_->drained(*n)) {
                break;
            }
            a = commit_drain(n->work_, up == nullptr);
            ROOST_ASSERT(!a.dead || dead == nullptr, "I5: a node died before its child");
            dead = a.dead ? n : dead;
        }
        if (!a.leave_parent) {
            break;
        }
        n = up;
        up = n->parent_;
        a = n->leave_commit(n->work_.load(mo::relaxed), 0);  // W4
        ROOST_ASSERT(!a.dead || dead == nullptr, "I5: a node died before its child");
        dead = a.dead ? n : dead;
    }
    if (dead != nullptr) {
        access::dispose(dead);
    }
}

void detail::node::finish_drain() noexcept {
    detail::node* up = parent_;
    after_work(up, commit_drain(work_, up == nullptr));
}

bool detail::node::close() noexcept {
    const work_action a = commit(work_, [](work_state s) { return detail::close(s); });
    if (a.refused) {
        return false;
    }
    after_work(parent_, a);
    return true;
}

void detail::node::close_and_leave() noexcept {
    detail::node* up = parent_;
    work_word seen = work_.load(mo::relaxed);  // W4
    while (is_last_unit(seen)) [[likely]] {
        if (work_.compare_exchange_weak(seen, closed_for_good(seen), mo::acq_rel, mo::relaxed)) {  // W3
            after_work(up, work_action{.drained = true});
            return;
        }
    }
    const bool is_root = up == nullptr;
    const work_action a = commit(work_, [is_root](work_state s) { return detail::close_and_leave(s, is_root); });
    after_work(up, a);
}

// Called when a child with work is out of the list and destroyed.
void detail::node::leave_with_child() noexcept {
    work_word seen = work_.load(mo::relaxed);  // W4
    while (seen >= 2 * one_unit) [[likely]] {
        if (work_.compare_exchange_weak(seen, seen - one_unit - one_reference, mo::release, mo::relaxed)) {  // W2
            return;
        }
    }
    detail::node* up = parent_;
    const bool is_root = up == nullptr;
    const work_action a = commit(work_, [is_root](work_state s) { return detail::leave_with_child(s, is_root); });
    after_work(up, a);
}

void detail::node::watch() noexcept { work_.fetch_or(watched_bit, mo::release); }  // W7

}  // namespace roost::inline ROOST_ABI
