#pragma once

#include <roost/runtime/detail/work_stack.hpp>

#include <cstddef>

// Work from outside the workers, in FIFO order: posting is one CAS, workers fetch a few items at a time.
//
// The incoming stack is newest first. The worker that finds the outgoing list empty reverses a whole stack once, under the
// lock that workers take to fetch anyway.
//
// id  operation                order    pairs  carries                                            fails in
// J1  fetch: waiting_ store    relaxed  J2     nothing: set under the lock, read as advice        (floor)
// J2  is_empty: waiting_ load  relaxed  J1     nothing: a parking worker looks again after a barrier (floor)

namespace roost::inline ROOST_ABI::detail {

class injector {
public:
    // As work_stack::push_further().
    [[nodiscard]] bool push_further(work& w) noexcept { return incoming_.push_further(w); }
    // Returns false once closed.
    bool push(work& w) noexcept { return incoming_.push(w) != work_stack::pushed::refused; }

    // Moves up to `limit` items, oldest first, to `out`. Returns how many.
    std::size_t fetch(std::size_t limit, work** out) noexcept {
        if (is_empty()) {
            return 0;
        }
        lock_.lock();
        if (outgoing_.is_empty()) {
            incoming_.take_oldest_first(outgoing_);
        }
        std::size_t moved = 0;
        while (moved < limit && (out[moved] = outgoing_.pop()) != nullptr) {
            ++moved;
        }
        waiting_.store(outgoing_.is_empty() ? 0 : 1, mo::relaxed);  // J1
        lock_.unlock();
        return moved;
    }

    bool close() noexcept { return incoming_.close(); }
    [[nodiscard]] bool is_closed() const noexcept { return incoming_.is_closed(); }
    [[nodiscard]] bool is_empty() const noexcept { return incoming_.is_empty() && waiting_.load(mo::relaxed) == 0; }  // J2

private:
    alignas(64) work_stack incoming_;
    alignas(64) small_mutex lock_;
    atomic<std::uint32_t> waiting_{0};
    work_list outgoing_;
};

}  // namespace roost::inline ROOST_ABI::detail
