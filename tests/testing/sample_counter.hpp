#pragma once

// A free list of slots and a counter of users, the second patient of the mutation gate: it has a tag against ABA and a
// recheck.
//
// Why it is not simpler: without the tag a pop that was overtaken by pop, pop, push of the same slot installs a stale
// successor. Without the recheck in join() a joiner that announces itself after the last user left sleeps for ever.
//
// layout   head    bits 0-3 slot index (count: empty), bits 4-5 tag
//          users   number of users; joiner: a thread sleeps in join()
//
// I1       a slot is in the list or has one owner
//
// id  operation              order             pairs   carries                                fails in
// C1  take: load             acquire           C4      next of the top slot                   sample_counter
// C2  take: next load        relaxed           -       the CAS decides whether it was current (floor)
// C3  take: CAS              acquire/acquire   C4      the slot's contents; next on failure   sample_counter
//     C3 survives acquire->relaxed: C1 or the failed CAS has acquired this very head; the order serves the failure path
// C4  give: CAS              release/relaxed   C1 C3   the slot's contents                    sample_counter
// C5  enter: fetch_add       relaxed           -       a user is already counted              (floor)
// C6  leave: fetch_sub       seq_cst           C7 C8   before it looks for a joiner; the user's writes sample_counter
// C7  join: store joiner     seq_cst           C9      announces before it looks              sample_counter
// C8  join: load users       seq_cst           C6      the users' writes                      sample_counter
// C9  leave: load joiner     seq_cst           C7      sees the announcement or is seen       sample_counter
// C10 give: next store       relaxed           -       published by C4                        (floor)
// C11 give: load             relaxed           -       only a first guess for C4              (floor)
// C12 leave: store joiner    release           C13     the users' writes                      sample_counter
// C13 join: load joiner      acquire           C12     the users' writes                      sample_counter

#include <roost/base/atomic.hpp>

#include <array>
#include <cstdint>

namespace sample {

using namespace roost;
using namespace roost::seam;

template <unsigned Count>
class slots {
public:
    slots() {
        for (unsigned i = 0; i < Count; ++i) {
            next_[i].store(i + 1, mo::relaxed);  // C10
        }
    }

    // A slot, or Count if there is none.
    unsigned take() noexcept {
        unsigned head = head_.load(mo::acquire);  // C1
        for (;;) {
            const unsigned top = head & 15U;
            if (top == Count) {
                return Count;
            }
            unsigned changed = next_[top].load(mo::relaxed);  // C2
            changed |= head & 48U;
            bump(changed);  // tag
            if (head_.compare_exchange_weak(head, changed, mo::acquire, mo::acquire)) {  // C3
                return top;
            }
        }
    }

    void give(unsigned slot) noexcept {
        unsigned head = head_.load(mo::relaxed);  // C11
        for (;;) {
            next_[slot].store(head & 15U, mo::relaxed);  // C10
            if (head_.compare_exchange_weak(head, (head & 48U) | slot, mo::release, mo::relaxed)) {  // C4
                return;
            }
        }
    }

private:
    static void bump(unsigned& head) noexcept { head = (head & 15U) | ((head + 16) & 48U); }

    atomic<unsigned> head_{0};
    std::array<atomic<unsigned>, Count> next_;
};

class counter {
public:
    explicit counter(std::uint32_t users) noexcept : users_(users) {}

    void enter() noexcept { users_.fetch_add(1, mo::relaxed); }  // C5

    void leave() noexcept {
        if (users_.fetch_sub(1, mo::seq_cst) == 1) {  // C6
            if (joiner_.load(mo::seq_cst) == 1) {     // C9
                joiner_.store(2, mo::release);        // C12
                wake_on(&joiner_, 1);
            }
        }
    }

    // Blocks until it has no users; one joiner.
    void join() noexcept {
        joiner_.store(1, mo::seq_cst);        // C7
        if (users_.load(mo::seq_cst) == 0) {  // C8, the recheck
            return;
        }
        while (joiner_.load(mo::acquire) == 1) {  // C13
            wait_on(joiner_, 1);
        }
    }

private:
    atomic<std::uint32_t> users_;
    atomic<std::uint32_t> joiner_{0};
};

}  // namespace sample
