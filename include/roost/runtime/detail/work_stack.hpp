#pragma once

#include <roost/base/atomic.hpp>
#include <roost/exec/work.hpp>

#include <bit>
#include <cstdint>

// Where work from other threads arrives: any thread pushes, and one takes everything at once. One word, lock-free.
//
// Why it is not simpler: it is the simplest that works. Taking everything at once avoids the ABA problem: a push only needs
// the head to be the same pointer, whatever happened in between.
//
// Word     head_: pointer to the newest item (bits 1..63) | closed (bit 0)
// States   empty 0 | filled p | closed 1 | closed and filled p+1: pushes are refused, and the items can still be taken
// Fields   work::next belongs to the pusher until W1 succeeds, then to the thread that takes it with W2
// I1       after close() returned no push succeeds
//
// id  operation          order    pairs  carries                     fails in
// W1  push: CAS          release  W2     the item, its next          work_stack_model: item_visible
// W2  take: fetch_and    acquire  W1     the items                   work_stack_model: item_visible
// W3  close: fetch_or    acq_rel  W3     what an earlier closer did before: it may still ring   work_stack_model: a_second_close_sees_the_first
// WR  loads before a CAS or of an estimate   relaxed   -   the CAS decides; is_empty is advice

namespace roost::inline ROOST_ABI::detail {

class work_stack {
public:
    enum class pushed : std::uint8_t { refused, first, further };

    work_stack() noexcept = default;
    work_stack(const work_stack&) = delete;
    work_stack& operator=(const work_stack&) = delete;

    pushed push(work& w) noexcept {
        std::uintptr_t head = head_.load(mo::relaxed);  // WR
        do {
            if ((head & closed_bit) != 0) {
                return pushed::refused;
            }
            w.next = std::bit_cast<work*>(head);
        } while (!head_.compare_exchange_weak(head, std::bit_cast<std::uintptr_t>(&w), mo::release, mo::relaxed));  // W1
        return head == 0 ? pushed::first : pushed::further;
    }

    // Pushes onto a stack that is not empty; the push is the last touch. Returns false if it is empty or closed; nothing
    // was pushed then. The thread that pushed onto the empty stack makes sure that both items are taken: they are taken
    // together.
    [[nodiscard]] bool push_further(work& w) noexcept {
        std::uintptr_t head = head_.load(mo::relaxed);  // WR
        while (head != 0 && (head & closed_bit) == 0) {
            w.next = std::bit_cast<work*>(head);
            if (head_.compare_exchange_weak(head, std::bit_cast<std::uintptr_t>(&w), mo::release, mo::relaxed)) {  // W1
                return true;
            }
        }
        return false;
    }

    // Returns everything, chained by next, newest first; null if there is nothing.
    [[nodiscard]] work* take() noexcept {
        if (is_empty()) {
            return nullptr;
        }
        const std::uintptr_t head = head_.fetch_and(closed_bit, mo::acquire);  // W2
        return std::bit_cast<work*>(head & ~closed_bit);
    }

    // Appends everything to `to`, oldest first.
    void take_oldest_first(work_list& to) noexcept {
        work* newest = take();
        work* oldest = nullptr;
        while (newest != nullptr) {
            work* older = newest->next;
            newest->next = oldest;
            oldest = newest;
            newest = older;
        }
        while (oldest != nullptr) {
            work* newer = oldest->next;
            to.push(*oldest);
            oldest = newer;
        }
    }

    // Makes every later push fail. Returns true for the call that closed it.
    bool close() noexcept { return (head_.fetch_or(closed_bit, mo::acq_rel) & closed_bit) == 0; }  // W3

    [[nodiscard]] bool is_empty() const noexcept { return (head_.load(mo::relaxed) & ~closed_bit) == 0; }  // WR
    [[nodiscard]] bool is_closed() const noexcept { return (head_.load(mo::relaxed) & closed_bit) != 0; }  // WR

private:
    static constexpr std::uintptr_t closed_bit = 1;
    static_assert(alignof(work) > closed_bit);

    atomic<std::uintptr_t> head_{0};
};

}  // namespace roost::inline ROOST_ABI::detail
