#include <roost/testing/sequencer.hpp>

#include <climits>
#include <string>

// Everything is under one lock; blocked threads wait on the word that it protects.
//
// id  operation             order    pairs  carries                                          fails in
// Z1  passed: fetch_add     release  Z2     what was done before the step                    sequencer_model: observer
// Z2  reached: load         acquire  Z1     what was done before the earlier steps           sequencer_model: observer

// Z1 survives fetch_add as load and store: only under the lock is it written

namespace roost::inline ROOST_ABI::testkit {

using namespace ext;

using namespace seam;

sequencer::~sequencer() {
    if (waiting_ != nullptr) {
        roost::detail::panic("sequencer", "step " + std::to_string(waiting_->step_), waiting_->where_,
                             "it was destroyed while a coroutine waits to reach this step");
    }
}

std::uint32_t sequencer::reached() const noexcept { return reached_.load(mo::acquire); }  // Z2

void sequencer::check(std::uint32_t step, site where) const noexcept {
    if (step <= reached()) {
        roost::detail::panic("sequencer", "step " + std::to_string(step), where,
                             "it was reached twice (steps count from 1, and each is reached once)");
    }
}

void sequencer::reach(std::uint32_t step, site where) noexcept {
    check(step, where);
    const time_point limit = deadline_after(now(), limit_);
    for (std::uint32_t seen = reached(); seen + 1 != step; seen = reached()) {
        if (!wait_on_until(reached_, seen, limit) && reached() == seen) {
            roost::detail::panic("sequencer", "step " + std::to_string(step), where,
                                 "it waited too long for step " + std::to_string(seen + 1) + ", which was not reached");
        }
    }
    passed();
}

// Returns false if the step is reached at once.
bool sequencer::enter(turn& t) noexcept {
    check(t.step_, t.where_);
    lock_.lock();
    const bool mine = reached() + 1 == t.step_;
    if (!mine) {
        t.next_ = waiting_;
        waiting_ = &t;
    }
    lock_.unlock();
    if (mine) {
        passed();
    }
    return !mine;
}

// Counts the caller's step, and the steps of waiting coroutines that follow it.
void sequencer::passed() noexcept {
    lock_.lock();
    turn* ready = nullptr;
    turn** tail = &ready;
    for (bool more = true; more;) {
        const std::uint32_t now_at = reached_.fetch_add(1, mo::release) + 1;  // Z1
        turn** link = &waiting_;
        while (*link != nullptr && (*link)->step_ != now_at + 1) {
            link = &(*link)->next_;
        }
        more = *link != nullptr;
        if (more) {
            *tail = *link;
            *link = (*link)->next_;
            (*tail)->next_ = nullptr;
            tail = &(*tail)->next_;
        }
    }
    lock_.unlock();
    wake_on(&reached_, INT_MAX);
    while (ready != nullptr) {
        turn* t = ready;
        ready = t->next_;
        t->wake();
    }
}

void sequencer::turn::wake() noexcept {
    if (executor_) {
        post_or_fall_back(executor_, *this, "sequencer step");
    } else {
        run();
    }
}

}  // namespace roost::inline ROOST_ABI::testkit
