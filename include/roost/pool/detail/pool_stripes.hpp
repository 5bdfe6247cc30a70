#pragma once

// The stripes of a pool: taking and putting back without a lock, and the pool's unit of work per stripe.
//
// 1. Why it is not simpler. The fast paths access one stripe's word and nothing else: after the compare-exchange that returns a
//    resource, the pool may already be freed. So `waited`, `stopped` and `closed` are bits of every stripe's word. A thread that
//    finds one of them set takes the queue's lock, under which waiters are served in order across all stripes.
//
// 2.-4. Word and transitions: stripe_state.hpp. Each commit is one compare-exchange of one word.
//
// 5. Fields    constant after construction, except the words and is_above_closed_
//
// 7. Ordering table
// id  operation              order            pairs   carries                                             fails in
// T1  word: load             relaxed          -       nothing: a guess for the CAS                        (floor)
// T2  take, reserve: CAS     acq_rel/relaxed  T3 T4   in: the resource, and the unit of work that is      pool_model: put_vs_take
//                                                     counted; out: the unit it has entered
// T3  put: CAS               release/relaxed  T2 T4   out: what the holder wrote to the resource          pool_model: put_vs_take
// T4  commit: CAS            acq_rel/relaxed  T2 T3   both                                                pool_model: destroy_vs_waiter
// T5  snapshot: load         relaxed          -       nothing: the lock carries it where it decides;      (floor)
//                                                     outside the lock it is for reports
// T9  take, plain: CAS       acquire/relaxed  T3 T4   in: the resource; it entered nothing, so nothing    pool_model: put_vs_take
//                                                     goes out
// S1  closed above: load,    relaxed          -       nothing: it is set once, and the level that         (floor)
//     store                                           follows decides

#include <roost/pool/detail/slot.hpp>
#include <roost/tree/detail/node.hpp>

#include <cstdint>

namespace roost::inline ROOST_ABI {
struct pool_options;
}

namespace roost::inline ROOST_ABI::detail {

class pool_stripes {
public:
    // With `counts`, each stripe enters `owner` while one of its slots is out or busy. Throws std::bad_alloc.
    pool_stripes(node& owner, bool counts, const pool_options& options);
    pool_stripes(const pool_stripes&) = delete;
    pool_stripes& operator=(const pool_stripes&) = delete;
    ~pool_stripes();
    void bind(unsigned index, slot_base& s) noexcept;

    [[nodiscard]] unsigned count() const noexcept { return count_; }
    [[nodiscard]] unsigned total_slots() const noexcept { return total_slots_; }
    [[nodiscard]] pool_stripe& at(unsigned i) const noexcept { return stripes_[i]; }
    // Returns the part of `all` that a stripe gets.
    [[nodiscard]] unsigned share_of(unsigned all, unsigned stripe) const noexcept {
        return all / count_ + (stripe < all % count_ ? 1 : 0);
    }
    [[nodiscard]] pool_stripe* begin() const noexcept { return stripes_; }
    [[nodiscard]] pool_stripe* end() const noexcept { return stripes_ + count_; }

    // Takes the newest idle resource of this thread's stripe, else of another. Returns null if there is none, or a waiter is
    // queued, or the pool is stopped.
    [[nodiscard]] slot_base* try_take() noexcept {
        pool_stripe& mine = home();
        stripe_state::word seen = mine.word.load(mo::relaxed);  // T1
        if (stripe::take_is_plain(stripe_state(seen), unit_)) [[likely]] {
            unsigned slot = 0;
            const stripe_state next = stripe::take_plainly(stripe_state(seen), slot);
            mine.expect_valid(next);
            if (mine.word.compare_exchange_weak(seen, next.bits, mo::acquire, mo::relaxed)) [[likely]] {  // T9
                return mine.slots[slot];
            }
        }
        return try_take_slow(mine);
    }
    // Puts a resource back into its stripe. Returns false, and changes nothing, if it must go through the queue. After true the
    // pool may be freed.
    [[nodiscard]] bool try_put(slot_base& s) noexcept {
        pool_stripe& home = *s.home;
        stripe_state::word seen = home.word.load(mo::relaxed);  // T1
        for (;;) {
            if ((seen & stripe::put_is_special) == 0) [[likely]] {
                const stripe_state next = stripe::put_plainly(stripe_state(seen), s.number);
                home.expect_valid(next);
                if (home.word.compare_exchange_weak(seen, next.bits, mo::release, mo::relaxed)) [[likely]] {  // T3
                    return true;
                }
                continue;
            }
            const stripe_step step = stripe::put(stripe_state(seen), s.number);
            if ((seen & (stripe_state::waited_bit | stripe_state::closed_bit)) != 0 || step.effect == stripe_effect::destroy)
                [[unlikely]] {
                return false;
            }
            home.expect_valid(step.next);
            if (home.word.compare_exchange_weak(seen, step.next.bits, mo::release, mo::relaxed)) [[likely]] {  // T3
                if (step.leave) {
                    owner_.leave();  // the unit kept the pool alive until here
                }
                return true;
            }
        }
    }

    // Take an idle resource, or the right to create, of this thread's stripe, else of another. With `past_queue` also while
    // waiters are queued. Under the queue's lock units must not be given back: then `units` counts those that are left over.
    // Otherwise it is null.
    [[nodiscard]] slot_base* take_anywhere(bool past_queue, unsigned* units) noexcept;
    [[nodiscard]] slot_base* reserve_anywhere(bool past_queue, unsigned* units) noexcept;
    // The resource of s is destroyed. Takes the right to create another in its slot. Returns false, and changes nothing, if
    // that is refused. Called under the queue's lock.
    [[nodiscard]] bool try_recreate(slot_base& s, unsigned& units) noexcept;
    // Sets or clears `waited` in every stripe.
    void mark_waited(bool waited) noexcept;

    [[nodiscard]] bool has_idle() const noexcept;
    [[nodiscard]] bool has_free() const noexcept;
    [[nodiscard]] bool has_live() const noexcept;
    [[nodiscard]] std::uint32_t live() const noexcept;  // resources idle, out or busy
    // Returns true if every stripe is closed and has no resource.
    [[nodiscard]] bool are_drained() const noexcept;
    // Returns true if the owner has refused a unit: an ancestor takes no more work.
    [[nodiscard]] bool is_above_closed() const noexcept { return is_above_closed_.load(mo::relaxed); }  // S1

private:
    [[nodiscard]] pool_stripe& home() noexcept {
        return count_ == 1 ? stripes_[0] : mask_ != 0 ? stripes_[thread_index() & mask_] : stripes_[thread_index() % count_];
    }
    // Commits one transition of a stripe, and enters the owner if it is the stripe's first unit.
    template <auto Transition>
    [[nodiscard]] slot_base* commit_from(pool_stripe& from, bool past_queue, unsigned* units) noexcept;
    [[nodiscard]] [[gnu::noinline]] slot_base* take_from(pool_stripe& from, bool past_queue, unsigned* units) noexcept;
    [[nodiscard]] slot_base* try_take_slow(pool_stripe& mine) noexcept;
    [[nodiscard]] slot_base* take_elsewhere(pool_stripe& mine, bool past_queue, unsigned* units) noexcept;
    [[nodiscard]] bool enter_or_note() noexcept;
    void give_unit_back(unsigned* units) noexcept;

    node& owner_;
    pool_stripe* stripes_ = nullptr;
    unsigned count_;
    unsigned mask_;  // if the count is a power of two, else 0
    stripe_state::word unit_;  // counted_bit if units are counted: the fast path requires it in a stripe's word
    unsigned total_slots_;
    atomic<bool> is_above_closed_{false};
};

}  // namespace roost::inline ROOST_ABI::detail
