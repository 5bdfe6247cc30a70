#pragma once

#include <roost/base/atomic.hpp>

#include <climits>
#include <cstdint>
#include <optional>

// Guard counts per thread, without locked instructions, for a node that many threads create guards on.
//
// 1. Why it is not simpler. A counter per thread is cheap because no thread knows the sum. So a striped node holds one unit of
//    work for all its stripes together, and the sum is not needed until the node is stopped or gone. Then the counts must be
//    moved into the node's own word while threads keep adding and subtracting. A thread counts in its cell with one plain
//    store, then checks whether the stripes are open. The closer closes them, makes every processor pass a barrier, and takes
//    every cell with an exchange. A thread that saw them open is counted: its store came before the barrier. A thread that did
//    not takes its count back, unless the closer has it. The cell shows which: a count the closer took is no longer in the
//    cell, a later one is. Later threads, and threads without a cell of their own, count in one shared word. The same commit
//    that reads the shared word last closes it. A thread that creates or drops a guard never waits.
//    Adding up the cells one by one gives a sum they never had: a guard may be created in a cell already read and dropped in
//    a cell not yet read. So try_sum() makes all other threads use the shared word meanwhile, in the same way: phase,
//    barrier. From then on a cell is changed only by a thread that read the phase before. That thread takes its count back and
//    adds it to the shared word. Reading the shared word first and the cells second meets such a count at most once. Its
//    thread is still inside add(), so the sum is right with it and without it. For this, add() also checks the phase before
//    it writes.
//
// 2. Words     phase_   open, counting, closing, closed      late_   twice the shared count; odd: closed
// 4.           open --try_sum--> counting --> open --close--> closing --folded--> closed
//
// 5. Fields    a cell: written by its thread, read by try_sum(), taken once by the closer; then read only by its thread
//
// 6. I1        pre-counted units + cells + late_/2 == live guards, whenever no call is under way
//    I2        a count for which add() returned true is folded into the node before close() returns
//
// 7. Ordering table
// id  operation             order            pairs  carries                                               fails in
// S1  add: store count      release          S7     the work that was guarded; before S2 by the barriers  stripes_model: close_sees_work
// S2  add: load phase       relaxed          -      the light side of the barrier pair; closed: see S5    stripes_model: close_and_add
// S3  own count: load       relaxed          -      its thread wrote it, or the closer; then S4 decides   (floor)
// S4  add: CAS count        relaxed          -      decides which side counts it; S5 or S7 carries work   stripes_model: close_and_add
// S5  late: CAS             release/acquire  S5 S8  the work that was guarded; closed: what was folded    stripes_model: late_and_close
// S6  close: CAS phase      relaxed          -      one closer; then the heavy side of the barrier pair   stripes_model: close_and_add
// S7  close: exchange count acquire          S1     as S1                                                 stripes_model: close_sees_work
// S8  close: CAS late       acq_rel/relaxed  S5     as S5; the loads before it decide nothing             stripes_model: late_and_close
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

    // Adds n guards; n may be negative. Returns false if closed: the node's own word counts now. `mine` is the calling thread's
    // own cell.
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

    // Moves all counts into the node's own word, by calling fold(n). The first caller does so and returns true. Others block
    // until it is done and return false.
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

    // Returns the number of guards counted here at one moment. Empty if another thread counts or closes, or the stripes are
    // closed.
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
    static constexpr std::int64_t taken = -(std::int64_t(1) << 48);  // no valid count; sums with counts do not overflow

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
