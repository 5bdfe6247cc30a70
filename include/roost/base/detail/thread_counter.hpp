#pragma once

// A counter of which every thread increments a part of its own; reading it adds up the parts.
//
// Why it is not simpler: one atomic number costs a locked instruction, and threads that count at once wait for its cache line. The
// first `Own` threads, by thread_index(), each have a line that no other thread writes: a load and a store. A number passes from a
// thread that has ended to a new one through the table of numbers, which orders the two. Further threads share lines.
//
// fields   line n of the first Own: written by the thread with that number; the others: by any thread
// I1       a read counts every increment that happened before it, once
//
// id  operation               order    pairs  carries                                       fails in
// C1  add, own: load, store   relaxed  -      nothing but the number                        (floor)
// C2  add, shared: fetch_add  relaxed  -      nothing but the number                        thread_counter_model: threads_that_share
// C3  read: load              relaxed  -      nothing but the number                        (floor)

#include <roost/base/atomic.hpp>

#include <cstddef>
#include <cstdint>

namespace roost::inline ROOST_ABI::detail {

template <std::size_t Own, std::size_t Shared>
class basic_thread_counter {
public:
    constexpr basic_thread_counter() noexcept = default;
    basic_thread_counter(const basic_thread_counter&) = delete;
    basic_thread_counter& operator=(const basic_thread_counter&) = delete;

    void add(std::uint64_t n) noexcept {
        const std::size_t thread = thread_index();
        if (thread < Own) [[likely]] {
            atomic<std::uint64_t>& mine = lines_[thread].n;
            mine.store(mine.load(mo::relaxed) + n, mo::relaxed);  // C1
            return;
        }
        lines_[Own + thread % Shared].n.fetch_add(n, mo::relaxed);  // C2
    }
    [[nodiscard]] std::uint64_t read() const noexcept {
        std::uint64_t sum = 0;
        for (const line& part : lines_) {
            sum += part.n.load(mo::relaxed);  // C3
        }
        return sum;
    }

private:
    struct alignas(64) line {
        atomic<std::uint64_t> n{0};
    };
    line lines_[Own + Shared];
};

// Two kilobytes.
using thread_counter = basic_thread_counter<24, 8>;

}  // namespace roost::inline ROOST_ABI::detail
