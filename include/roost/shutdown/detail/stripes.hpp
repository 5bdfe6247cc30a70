#pragma once

#include <roost/base/atomic.hpp>

#include <climits>
#include <cstdint>
#include <optional>

// Counts for a node that many threads put guards on: one per thread, without locked instructions.
//
// 1. Why it is not simpler. A counter per thread is cheap because nobody knows the sum. So while a node is striped it holds one
//    unit of work for all its stripes together, and nobody asks for the sum until the node is stopped or given up. Then the
//    counts have to be moved into the node's own word, while threads go on adding and taking away. A thread counts in its
//    cell with one plain store and then looks whether the stripes are open; the closer closes them, makes every processor pass
//    a barrier, and takes every cell with an exchange. Whoever saw them open has been counted: its store came before the
//    barrier. Whoever did not takes its count back unless the closer has it: the cell tells, because what the closer took is
//    not there any more, and what came after it is. Who comes then, and threads without a cell of their own, count in one
//    shared word, which is closed by the same commit that reads it last. Nobody who makes or drops a guard ever waits.
//    Adding the cells up one after the other gives a number they never had: a guard may come in a cell that has been read and go
//    in one that has not. So a thread that counts makes all others use the shared word meanwhile, in the same way: phase,
//    barrier. From then on no cell changes, except by a thread that looked at the phase before; it takes its count back and
//    brings it to the shared word. Reading first the shared word and then the cells meets such a count at most once, and its
//    thread is still on its way, so with it and without it are both right. That is why add() looks at the phase before it
//    writes, too.
//
// 2. Words     phase_   open, counting, closing, closed      late_   twice the shared count; odd: closed
// 4.           open --try_sum--> counting --> open --close--> closing --folded--> closed
//
// 5. Fields    a cell: its thread writes; the closer takes it once, from then on nobody reads it but its thread
//
// 6. I1        pre-counted units + cells + late_/2 == live guards, whenever no call is under way
//    I2        what add() said true to is folded into the node before close() returns
//
// 7. Ordering table
// id  operation             order            pairs  carries                                               fails in
// S1  add: store count      release          S7     the work that was guarded; before S2 by the barriers  stripes_model: close_sees_work
// S2  add: load phase       relaxed          -      the light side of the barrier pair; closed: see S5    stripes_model: close_and_add
// S3  own count: load       relaxed          -      its thread wrote it, or the closer, and then S4 tells (floor)
// S4  add: CAS count        relaxed          -      decides who has the count; S5 or S7 carries the work  stripes_model: close_and_add
// S5  late: CAS             release/acquire  S5 S8  the work that was guarded; closed: what was folded    stripes_model: late_and_close
// S6  close: CAS phase      relaxed          -      one closer; then the heavy side of the barrier pair   stripes_model: close_and_add
// S7  close: exchange count acquire          S1     as S1                                                 stripes_model: close_sees_work
// S8  close: CAS late       acq_rel/relaxed  S5     as S5; the looks before it decide nothing             stripes_model: late_and_close
// S9  close: store phase    release          S10    the fold                                              stripes_model: late_and_close
// S10  wait: load phase     acquire          S9     the fold                                              stripes_model: late_and_close
// S11  count: CAS phase     relaxed          -      one at a time; then the heavy side of the barrier pair        stripes_model: count_two_cells
// S12  count: load late     acquire          S5     a count that is there has left its cell                       stripes_model: count_and_late
// S13  count: load cell     relaxed          -      the barrier pair, or S12                                      (floor)
// S14  count: store phase   relaxed          -      nothing was changed                                           (floor)

namespace roost::inline ROOST_ABI::detail {

class stripes {
public:
#if defined(ROOST_SEAM_MODEL)
    static constexpr std::uint32_t width = 2;  // a third thread counts in the shared word
#else
    static constexpr std::uint32_t width = 32;
#endif

    stripes() noexcept = default;
    stripes(const stripes&) = delete;
    stripes& operator=(const stripes&) = delete;

    // n more guards (less, when negative). False: closed; the node's own word counts now.
    // mine: the calling thread's own cell.
    [[nodiscard]] bool add(std::uint32_t mine, std::int64_t n) noexcept {
        if (mine >= width) [[unlikely]] {
            return add_late(n);
        }
        if (phase_.load(mo::relaxed) != open) [[unlikely]] {  // S2
            return add_late(n);
        }
        atomic<std::int64_t>& count = cells_[mine].count;
        const std::int64_t before = count.load(mo::relaxed);  // S3
        count.store(before + n, mo::release);  // S1
        light_barrier();
        return phase_.load(mo::relaxed) == open || add_while_closing(count, before, n);  // S2
    }

    // Moves everything into the node's own word, with fold(n): the first caller does, others wait until it is done. True: this
    // call did.
    template <class Fold>
    bool close(Fold fold) noexcept {
        std::uint32_t expected = open;
        while (!phase_.compare_exchange_strong(expected, closing, mo::relaxed, mo::relaxed)) {  // S6
            if (expected == counting) {
                yield_thread();
            } else if (phase_.load(mo::acquire) == closed) {  // S10
                return false;
            } else {
                wait_on(phase_, closing);
            }
            expected = open;
        }
        heavy_barrier();
        std::int64_t sum = 0;
        for (cell& c : cells_) {
            sum += c.count.exchange(taken, mo::acquire);  // S7
        }
        std::int64_t seen = late_.load(mo::relaxed);  // S8
        fold(sum + seen / 2);
        for (std::int64_t folded = seen;
             !late_.compare_exchange_strong(seen, closed_late, mo::acq_rel, mo::relaxed);) {  // S8
            fold((seen - folded) / 2);
            folded = seen;
        }
        phase_.store(closed, mo::release);  // S9
        wake_on(&phase_, INT_MAX);
        return true;
    }

    [[nodiscard]] bool is_closed() const noexcept { return phase_.load(mo::acquire) == closed; }  // S10

    // How many guards are counted here, at one moment. Nothing when another thread counts or closes.
    [[nodiscard]] std::optional<std::int64_t> try_sum() noexcept {
        std::uint32_t expected = open;
        if (!phase_.compare_exchange_strong(expected, counting, mo::relaxed, mo::relaxed)) {  // S11
            return std::nullopt;
        }
        heavy_barrier();
        std::int64_t sum = late_.load(mo::acquire) / 2;  // S12
        for (const cell& c : cells_) {
            sum += c.count.load(mo::relaxed);  // S13
        }
        phase_.store(open, mo::relaxed);  // S14
        return sum;
    }

private:
    static constexpr std::uint32_t open = 0;
    static constexpr std::uint32_t closing = 1;
    static constexpr std::uint32_t closed = 2;
    static constexpr std::uint32_t counting = 3;
    static constexpr std::int64_t closed_late = 1;
    static constexpr std::int64_t taken = -(std::int64_t(1) << 48);  // no count, and no sum of these with counts overflows

    [[nodiscard]] bool add_while_closing(atomic<std::int64_t>& count, std::int64_t before, std::int64_t n) noexcept {
        std::int64_t mine = before + n;
        return !count.compare_exchange_strong(mine, before, mo::relaxed, mo::relaxed) || add_late(n);  // S4
    }
    [[nodiscard]] bool add_late(std::int64_t n) noexcept {
        std::int64_t seen = late_.load(mo::acquire);  // S5
        do {
            if (seen == closed_late) {
                return false;
            }
        } while (!late_.compare_exchange_weak(seen, seen + 2 * n, mo::release, mo::acquire));  // S5
        return true;
    }

    struct alignas(64) cell {
        atomic<std::int64_t> count{0};
    };

    atomic<std::uint32_t> phase_{open};
    atomic<std::int64_t> late_{0};
    cell cells_[width];
};

}  // namespace roost::inline ROOST_ABI::detail
