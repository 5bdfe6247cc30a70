#pragma once

// The part of a pool that does not depend on the resource type: a tree node, its stripes, and one queue of waiters for all.
//
// 1. Why it is not simpler. The fast paths access one stripe's word and nothing else: after the compare-exchange that returns a
//    resource, the pool may already be freed. So `waited`, `stopped` and `closed` are bits of every stripe's word. A thread that
//    finds one of them set takes the queue's lock, under which waiters are served in order across all stripes.
//
// 2.-4. Word and transitions: stripe_state.hpp. The queue's side of it:
//
//      acquire --idle--> take            fast: one CAS
//              --spare--> reserve        create: at once by the caller, or by the pool if create is awaitable
//              --neither--> under the lock: set `waited` in every stripe, check again, enqueue
//      release --not waited--> put       fast: one CAS
//              --waited--> under the lock: to the first waiter, never through the word
//      destroyed, or creation failed --waiter--> recreate: the right to create goes to the first waiter without one
//
// 5. Fields    everything except the words and the statistics: under the queue's lock
//
// 6. I5  a waiter is queued and the lock is free => every stripe has `waited` set, and no stripe has an idle or free slot.
//        Exceptions: the first waiter is a parked thread that was notified; or all waiters have a check or creation under way;
//        or creating is suspended and slots are only free
//    I6  the queue is empty and the lock is free => no stripe has `waited` set
//    I7  a slot is being created for at most one waiter, a waiter has at most one slot being created for it
//    I8  a user function runs => its slot is out or busy, or asides_ counts it, or it was called by the user's own call
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
// T6  holder, times          relaxed          -       nothing: reports need a recent value                (floor)
// T7  statistics             relaxed          -       nothing                                             (floor)
// T8  may_barge: load, store relaxed          -       nothing: a hint; the word decides                   (floor)
// T9  take, plain: CAS       acquire/relaxed  T3 T4   in: the resource; it entered nothing, so nothing    pool_model: put_vs_take
//                                                     goes out
// H1  holder, aged: store    release          H2      out: the time of the acquire                        pool_time_model: leaks_vs_take
// H2  holder, aged: load     acquire          H1      in: the time of this acquire or a later one         pool_time_model: leaks_vs_take

#include <roost/pool/detail/pool_counters.hpp>
#include <roost/pool/detail/pool_waiter.hpp>
#include <roost/pool/detail/slot.hpp>
#include <roost/pool/error.hpp>
#include <roost/pool/options.hpp>
#include <roost/sync/detail/thread_waiter.hpp>
#include <roost/sync/detail/wait_list.hpp>
#include <roost/sync/detail/wait_operation.hpp>
#include <roost/tree/detail/node.hpp>

#include <cstddef>
#include <exception>
#include <vector>

namespace roost::inline ROOST_ABI::detail {

class drop_limit;

class pool_core : public node {
public:
    // Properties of the user's functions.
    struct kinds {
        bool creates_async = false;
        bool has_check = false;
        bool checks_async = false;
    };
    pool_core(pool_options options, kinds how, site made_at);
    pool_core(node& parent, pool_options options, kinds how, site made_at);
    void open() noexcept;  // called once after construction; requires that a pool with a parent is attached

    // --- fast paths ----------------------------------------------------------------------------------------------------
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
    // As try_take(), but returns null if the resource must be examined first.
    [[nodiscard]] slot_base* try_take_unexamined() noexcept { return examines_ ? nullptr : try_take(); }
    void give_back(slot_base& s) noexcept {
        if (has_upkeep_) [[unlikely]] {
            if (return_with_upkeep(s)) {
                return;
            }
        }
        s.where.store(site(), mo::relaxed);  // T6
        pool_stripe& home = *s.home;
        stripe_state::word seen = home.word.load(mo::relaxed);  // T1
        for (;;) {
            if ((seen & stripe::put_is_special) == 0) [[likely]] {
                const stripe_state next = stripe::put_plainly(stripe_state(seen), s.number);
                home.expect_valid(next);
                if (home.word.compare_exchange_weak(seen, next.bits, mo::release, mo::relaxed)) [[likely]] {  // T3
                    return;
                }
                continue;
            }
            const stripe_step step = stripe::put(stripe_state(seen), s.number);
            if ((seen & (stripe_state::waited_bit | stripe_state::closed_bit)) != 0 || step.effect == stripe_effect::destroy)
                [[unlikely]] {
                give_back_slow(s);
                return;
            }
            home.expect_valid(step.next);
            if (home.word.compare_exchange_weak(seen, step.next.bits, mo::release, mo::relaxed)) [[likely]] {  // T3
                if (step.leave) {
                    leave();  // the unit kept the pool alive until here
                }
                return;
            }
        }
    }
    void note_holder(slot_base& s, const char* who, site where) noexcept {
        s.who.store(who, mo::relaxed);  // T6
        if (tracks_ages_) [[unlikely]] {
            s.since.store(time_now(), mo::relaxed);  // T6
            s.where.store(where, mo::release);  // H1
            return;
        }
        s.where.store(where, mo::relaxed);  // T6
    }

    // --- slow paths ----------------------------------------------------------------------------------------------------
    // Takes the right to create, for a newcomer. Returns null if there is no room.
    [[nodiscard]] slot_base* try_reserve() noexcept;
    // Returns true if there is room but creating is suspended. Sets `why` to the last failure.
    [[nodiscard]] bool is_suspended(std::exception_ptr& why) noexcept;
    void discard(slot_base& s) noexcept;
    // Returns true if w was enqueued, false if it was served at once (see given).
    [[nodiscard]] bool enqueue(pool_waiter& w) noexcept;
    [[nodiscard]] bool cancel(pool_waiter& w, claim as) noexcept;
    [[nodiscard]] bool acquire_in_thread(pool_waiter& result, time_point deadline) noexcept;
    // Passes on the resource or right of a waiter that will never run.
    void pass_on(pool_waiter& w) noexcept;
    // Returns stopped or closed if newcomers are refused, else nothing.
    [[nodiscard]] gift refusal() const noexcept;

    // --- creating and destroying ---------------------------------------------------------------------------------------
    // Called by the holder of a permit if create is synchronous. Returns true if the resource was created; else w.cause is set.
    [[nodiscard]] bool create_here(pool_waiter& w) noexcept;
    // Called at the end of an attempt that the pool started. Returns true if the attempt is still current. False: its limit has
    // passed, and the caller disposes of the result.
    [[nodiscard]] bool claim_attempt(slot_base& s, std::uint32_t attempt) noexcept;
    void created(slot_base& s) noexcept;
    void create_failed(slot_base& s, std::exception_ptr why) noexcept;
    void emptied(slot_base& s) noexcept;
    // Records the job that runs the attempt, so that its limit can cancel it.
    void note_running(slot_base& s, std::uint32_t attempt, node& job) noexcept;
    // An aside is work of the pool outside its slots: an attempt past its limit, the destruction of a resource in no slot, a
    // report. Closing waits for asides. begin_aside() requires that something else keeps the pool from ending. No user function
    // is called after end_aside().
    void begin_aside() noexcept;
    void end_aside() noexcept;
    void end_late() noexcept;  // of an attempt past its limit
    void begin_drop() noexcept;  // of a resource in no slot
    void end_drop() noexcept;
    // Returns null if there is no limit, or no memory for one.
    [[nodiscard]] drop_limit* make_drop_limit() const noexcept;
    void limit_passed(slot_base& s) noexcept;  // called by the timer
    void expire_attempt(slot_base& s) noexcept;
    [[nodiscard]] std::exception_ptr limit_error(int stripe, pool_operation operation) const noexcept;
    void report(pool_operation operation, int stripe, const std::exception_ptr& why) noexcept;
    // Ends of an awaitable check. A failed check fails no acquire.
    void checked(slot_base& s) noexcept;
    void check_failed(slot_base& s) noexcept;
    // The check failed and the resource is already destroyed.
    void check_lost(slot_base& s) noexcept;
    // Examines a taken resource. Returns resource if it is fit, nothing if it is unfit and being destroyed, unchecked if it needs
    // an awaitable check.
    [[nodiscard]] gift examine(slot_base& s) noexcept;
    // Starts an awaitable check of a taken resource, for no particular waiter.
    void check_aside(slot_base& s) noexcept;

    // --- life ------------------------------------------------------------------------------------------------------------
    void begin_close() noexcept;
    [[nodiscard]] bool enqueue_closer(waiter& w) noexcept;  // returns false if the close has already ended
    [[nodiscard]] bool cancel_closer(waiter& w, claim as) noexcept;
    [[nodiscard]] bool close_in_thread(time_point deadline) noexcept;
    std::uint32_t clear_idle() noexcept;
    std::uint32_t resize(std::uint32_t capacity) noexcept;  // returns the new capacity
    void warm_up() noexcept;
    bool create_one() noexcept;  // for no particular waiter; returns false if there is no room, or it failed
    void start_upkeep() noexcept;
    [[nodiscard]] pool_stats stats() noexcept;
    [[nodiscard]] std::vector<pool_holder> holders();
    // Returns true if an idle resource must be examined before it is acquired.
    [[nodiscard]] bool examines() const noexcept { return examines_; }
    [[nodiscard]] bool creates_async() const noexcept { return creates_async_; }
    [[nodiscard]] unsigned stripes() const noexcept { return stripe_count_; }
    [[nodiscard]] const pool_options& options() const noexcept { return options_; }
    [[nodiscard]] std::int64_t time_now() noexcept;
    [[nodiscard]] wait_target describe_wait() const noexcept { return {"pool", name()}; }
    [[nodiscard]] pool_stripe& stripe_at(unsigned i) noexcept { return stripes_[i]; }
    [[nodiscard]] std::exception_ptr make_error(gift why, pool_operation operation, int stripe,
                                                std::exception_ptr cause) noexcept;

protected:
    ~pool_core();
    void bind_slot(unsigned index, slot_base& s) noexcept;
    [[nodiscard]] unsigned total_slots() const noexcept { return total_slots_; }
    // Starts the limit of the current attempt. Requires that the slot is empty: at the limit another attempt may use it.
    void arm_attempt(slot_base& s, duration limit) noexcept;

    // Implemented for the resource type.
    virtual void create_now(slot_base& s) = 0;  // synchronous; may throw
    virtual void start_create(slot_base& s, std::uint32_t attempt) noexcept = 0;  // awaitable
    virtual void destroy_now(slot_base& s, std::uint32_t attempt) noexcept = 0;  // ends with emptied()
    virtual bool check(slot_base& s) = 0;
    virtual void start_check(slot_base& s, std::uint32_t attempt) noexcept = 0;  // awaitable
    virtual void free_self() noexcept = 0;

private:
    static void destroy_node(node& n) noexcept { static_cast<pool_core&>(n).free_self(); }
    static void level_raised(node& n, level now) noexcept;
    static void describe(const node& n, node_description& d) noexcept;
    static const node_functions functions_table;

    // A timer, and the work that it posts to the pool's executor.
    struct maintenance : work, timer {
        explicit maintenance(work::run_function what) noexcept;
        pool_core* core = nullptr;
    };

    [[nodiscard]] pool_stripe& home() noexcept {
        return stripe_count_ == 1  ? stripes_[0]
               : stripe_mask_ != 0 ? stripes_[thread_index() & stripe_mask_]
                                   : stripes_[thread_index() % stripe_count_];
    }
    // Commits one transition of a stripe, and enters the node if it is the stripe's first unit. If fx is not null, the caller
    // holds the queue's lock, under which units must not be given back.
    template <auto Transition>
    [[nodiscard]] slot_base* commit_from(pool_stripe& from, bool past_queue, pool_effects* fx) noexcept;
    [[nodiscard]] slot_base* take_from(pool_stripe& from, bool past_queue, pool_effects* fx) noexcept;
    [[nodiscard]] bool enter_or_note() noexcept;
    void give_unit_back(pool_effects* fx) noexcept;
    void set_up();
    [[nodiscard]] slot_base* try_take_slow(pool_stripe& mine) noexcept;
    [[nodiscard]] slot_base* take_elsewhere(pool_stripe& mine, bool past_queue, pool_effects* fx) noexcept;
    [[nodiscard]] slot_base* reserve_anywhere(bool past_queue, pool_effects* fx) noexcept;
    [[nodiscard]] slot_base* take_anywhere(bool past_queue, pool_effects* fx) noexcept;
    [[nodiscard]] slot_base* pick(gift& what, bool past_queue, pool_effects* fx) noexcept;
    [[nodiscard]] stripe_state look(const pool_stripe& s) const noexcept {
        return stripe_state(s.word.load(mo::relaxed));  // T5
    }

    // Under the lock.
    void give(pool_waiter& w, gift what, slot_base* s, pool_effects& fx) noexcept;
    void serve(pool_effects& fx) noexcept;
    [[nodiscard]] bool enqueue_with_check(pool_waiter& w, slot_base& s, pool_effects& fx) noexcept;
    [[nodiscard]] bool notify_thread(pool_waiter& w, pool_effects& fx) noexcept;
    [[nodiscard]] pool_waiter* first_without_creation() noexcept;
    void create_for(pool_waiter& w, slot_base& s, pool_effects& fx) noexcept;
    void put_locked(slot_base& s, pool_effects& fx) noexcept;
    void begin_check(slot_base& s, pool_waiter* owner, pool_effects& fx) noexcept;
    void offer(slot_base& s, bool is_new) noexcept;
    void empty_locked(slot_base& s, pool_effects& fx) noexcept;
    void mark_waited(bool waited) noexcept;
    void settle_queue(pool_effects& fx) noexcept;
    void serve_the_rest(pool_effects& fx) noexcept;
    void serve_when_reopened() noexcept;
    void drain_if_done(pool_effects& fx) noexcept;
    [[nodiscard]] bool has_live() const noexcept;
    void fail_hopeless(pool_effects& fx) noexcept;
    [[nodiscard]] bool may_create() noexcept;
    void unlock_and_run(pool_effects& fx) noexcept;
    void run_effects(pool_effects& fx) noexcept;

    void give_back_slow(slot_base& s) noexcept;
    [[nodiscard]] bool return_with_upkeep(slot_base& s) noexcept;
    template <class Node>
    [[nodiscard]] bool sleep(Node& self, time_point deadline) noexcept;
    void refuse_all(gift why) noexcept;

    void end_failed_check(slot_base& s) noexcept;
    [[nodiscard]] std::exception_ptr error_at(int stripe, pool_operation operation,
                                              const std::exception_ptr& why) const noexcept;
    void start_creating(slot_base& s) noexcept;
    void start_destroying(slot_base& s) noexcept;
    void destroy_or_post(slot_base& s) noexcept;
    void note_failure(const std::exception_ptr& why) noexcept;
    void note_created(slot_base& s) noexcept;
    template <class Each>
    std::uint32_t evict_all(pool_stripe& home, Each each) noexcept;
    [[nodiscard]] bool is_stale(const slot_base& s, std::int64_t now) const noexcept;
    void evict_stale(pool_stripe& s, std::int64_t now) noexcept;
    void keep_after_all(slot_base& s) noexcept;
    void maintain() noexcept;
    void look_after() noexcept;
    void reopened() noexcept;
    void report_leaks(std::int64_t now) noexcept;
    void end_upkeep() noexcept;

    pool_stripe* stripes_ = nullptr;
    unsigned stripe_count_ = 0;
    unsigned stripe_mask_ = 0;  // if the count is a power of two, else 0
    bool counts_ = false;
    stripe_state::word unit_ = 0;  // counted_bit if counts_: the fast path requires it in a stripe's word
    bool has_upkeep_ = false;
    bool tracks_ages_ = false;
    bool creates_async_;
    bool examines_;
    bool checks_async_;
    atomic<bool> may_barge_{false};
    atomic<bool> is_above_closed_{false};  // an ancestor takes no more work
    wait_list waiters_;

    // Under the lock from here on.
    bool is_waited_ = false;
    bool is_closing_ = false;
    bool is_drained_ = false;  // closed, and every slot is free
    bool has_ended_ = false;  // and there is no aside
    std::uint32_t asides_ = 0;
    bool upkeep_lives_ = false;
    bool reopening_lives_ = false;
    wait_list closers_;
    std::uint32_t failures_ = 0;
    std::int64_t closed_until_ = 0;
    std::exception_ptr last_failure_;

    unsigned total_slots_ = 0;
    std::uint32_t capacity_now_ = 0;
    pool_options options_;
    maintenance upkeep_;
    maintenance reopening_;  // the end of a suspension while waiters are queued

    pool_counters counters_;
};

}  // namespace roost::inline ROOST_ABI::detail
