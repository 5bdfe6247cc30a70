#pragma once

#include <roost/base/atomic.hpp>
#include <roost/exec/work.hpp>

#include <cstddef>
#include <cstdint>
#include <new>

// The work of one worker: its owner pushes and pops the newest item at the bottom, thieves take the oldest from the top.
//
// Why it is not simpler: a lock would cost the owner two atomic exchanges per item. A FIFO queue would run a fork-join
// program breadth first and hold all of it in memory. Chase and Lev's deque needs one exchange per pop.
//
// Words    top_     position of the oldest item; only grows; an increment is the claim of that item
//          bottom_  position after the newest item; only the owner writes it
//          buffer_  ring of a power of two slots; position p lives in slot p & mask
// States   empty    bottom_ <= top_           items [top_, bottom_) otherwise
//
//   push: slot, then bottom_ + 1        pop: bottom_ - 1, then look at top_        steal: top_, bottom_, slot, then CAS top_
//
// Fields   top_seen_  owner only: some earlier value of top_, so that a push does not touch the thieves' line
//          older      buffers that were outgrown; a thief may still read them, so they live as long as the deque
// I1       top_ never passes bottom_ by more than the one position that a pop is about to give back
// I2       a position is claimed once: by the pop of a position that no thief can reach, or by the CAS on top_
//
// id  operation             order     pairs   carries                                       fails in
// Q1  push: bottom_ store   release   Q5      the slot and the item behind it               work_deque_model: item_visible
// Q2  pop: bottom_ store    seq_cst   Q4 Q5   the reservation, before the look at top_      work_deque_model: last_item
// Q3  pop: top_ load        seq_cst   Q2 Q6   claims made before the reservation            work_deque_model: last_item
// Q4  steal: top_ load      seq_cst   Q5      which position; before the look at bottom_    work_deque_model: last_item
// Q5  steal: bottom_ load   seq_cst   Q1 Q2   the slot and the item; the reservation        work_deque_model: last_item
// Q6  claim: top_ CAS       seq_cst   Q3 Q6   the claim itself                              work_deque_model: last_item
// Q7  grow: buffer_ store   release   Q8      the copied slots                              work_deque_model: growth
// Q8  steal: buffer_ load   acquire   Q7      the copied slots                              work_deque_model: growth
// Q9  push: top_ load       acquire   Q6      the thief has read the slot that is written next   work_deque_model: slot_reuse
// QR  everything else       relaxed   -       the owner's own words; slots (Q1 and Q6 order them); estimates
//
// Q9 survives acquire->relaxed: only a thief that reads the slot's next value before it is written would show it (load
//    buffering), which the explorer does not do
// Q4 survives seq_cst->acquire: kept as in the published proof; the same instruction on x86
// Q6 survives seq_cst->acq_rel: in pop only; kept as in the published proof; the same instruction on x86

namespace roost::inline ROOST_ABI::detail {

struct deque_policy {
    static constexpr std::size_t first_capacity = 256;
};

template <class Policy = deque_policy>
class work_deque {
public:
    work_deque() : buffer_(make(Policy::first_capacity, nullptr)) {}
    work_deque(const work_deque&) = delete;
    work_deque& operator=(const work_deque&) = delete;
    ~work_deque() {
        ring* b = buffer_.load(mo::relaxed);  // QR
        while (b != nullptr) {
            ring* older = b->older;
            deallocate(b, bytes_of(b->mask + 1));
            b = older;
        }
    }

    // Called by the owner. Returns the number of items now (thieves may have taken some), or 0 without memory to grow.
    [[nodiscard]] std::int64_t push(work& w) noexcept {
        const std::int64_t bottom = bottom_.load(mo::relaxed);  // QR
        ring* b = buffer_.load(mo::relaxed);  // QR
        if (bottom - top_seen_ > static_cast<std::int64_t>(b->mask)) [[unlikely]] {
            top_seen_ = top_.load(mo::acquire);  // Q9
            if (bottom - top_seen_ > static_cast<std::int64_t>(b->mask)) {
                b = grow(b, bottom);
                if (b == nullptr) {
                    return 0;
                }
            }
        }
        b->slot(bottom).store(&w, mo::relaxed);  // QR
        bottom_.store(bottom + 1, mo::release);  // Q1
        return bottom + 1 - top_seen_;
    }

    // Called by the owner. Returns the newest item, or null.
    [[nodiscard]] work* pop() noexcept {
        const std::int64_t bottom = bottom_.load(mo::relaxed) - 1;  // QR
        if (bottom < top_seen_) {
            return nullptr;
        }
        bottom_.store(bottom, mo::seq_cst);  // Q2
        std::int64_t top = top_.load(mo::seq_cst);  // Q3
        top_seen_ = top;
        if (top > bottom) {
            bottom_.store(bottom + 1, mo::relaxed);  // QR
            return nullptr;
        }
        work* w = buffer_.load(mo::relaxed)->slot(bottom).load(mo::relaxed);  // QR
        if (top < bottom) {
            return w;
        }
        const bool won = top_.compare_exchange_strong(top, top + 1, mo::seq_cst, mo::relaxed);  // Q6
        bottom_.store(bottom + 1, mo::relaxed);  // QR
        top_seen_ = bottom + 1;
        return won ? w : nullptr;
    }

    // Called by any thread. Returns the oldest item, or null if there is none. Sets `lost` if another thread claimed it
    // first.
    [[nodiscard]] work* steal(bool& lost) noexcept {
        std::int64_t top = top_.load(mo::seq_cst);  // Q4
        const std::int64_t bottom = bottom_.load(mo::seq_cst);  // Q5
        if (top >= bottom) {
            return nullptr;
        }
        ring* b = buffer_.load(mo::acquire);  // Q8
        work* w = b->slot(top).load(mo::relaxed);  // QR
        if (!top_.compare_exchange_strong(top, top + 1, mo::seq_cst, mo::relaxed)) {  // Q6
            lost = true;
            return nullptr;
        }
        return w;
    }

    // Called by any thread. Exact at rest, an estimate otherwise.
    [[nodiscard]] std::int64_t size_approx() const noexcept {
        const std::int64_t bottom = bottom_.load(mo::relaxed);  // QR
        const std::int64_t top = top_.load(mo::relaxed);  // QR
        return bottom > top ? bottom - top : 0;
    }
    [[nodiscard]] std::size_t capacity() const noexcept { return buffer_.load(mo::relaxed)->mask + 1; }  // QR

private:
    struct ring {
        std::size_t mask;
        ring* older;

        [[nodiscard]] atomic<work*>& slot(std::int64_t position) noexcept {
            auto* first = reinterpret_cast<atomic<work*>*>(this + 1);
            return first[static_cast<std::size_t>(position) & mask];
        }
    };
    static_assert(sizeof(ring) % alignof(atomic<work*>) == 0);

    static std::size_t bytes_of(std::size_t capacity) noexcept { return sizeof(ring) + capacity * sizeof(atomic<work*>); }

    static ring* make(std::size_t capacity, ring* older) {
        auto* b = ::new (allocate(bytes_of(capacity))) ring{capacity - 1, older};
        for (std::size_t i = 0; i < capacity; ++i) {
            ::new (&b->slot(static_cast<std::int64_t>(i))) atomic<work*>(nullptr);
        }
        return b;
    }

    [[gnu::noinline, gnu::cold]] ring* grow(ring* full, std::int64_t bottom) noexcept {
        ring* bigger = nullptr;
        try {
            bigger = make((full->mask + 1) * 2, full);
        } catch (const std::bad_alloc&) {
            return nullptr;
        }
        for (std::int64_t p = top_seen_; p < bottom; ++p) {
            bigger->slot(p).store(full->slot(p).load(mo::relaxed), mo::relaxed);  // QR
        }
        buffer_.store(bigger, mo::release);  // Q7
        return bigger;
    }

    alignas(64) atomic<std::int64_t> top_{0};
    alignas(64) atomic<std::int64_t> bottom_{0};
    std::int64_t top_seen_ = 0;
    atomic<ring*> buffer_;
};

}  // namespace roost::inline ROOST_ABI::detail
