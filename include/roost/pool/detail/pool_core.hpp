#pragma once

// What a pool is made of, whatever it holds: a tree node, its stripes, and one queue of waiters for all of them.
//
// 1. Why it is not simpler. The fast paths touch one stripe's word and nothing else: after the compare-exchange that gives a
//    resource back, the pool may be gone. So "somebody waits", "stopped" and "closed" are bits of every stripe's word, and
//    whoever finds one of them set goes through the queue's lock, where waiters are served in order across all stripes.
//
// 2.-4. Word and transitions: stripe_state.hpp. The queue's side of it:
//
//      acquire --idle--> take            fast: one CAS
//              --spare--> reserve        create: at once by the caller, or by the pool when create is awaitable
//              --neither--> under the lock: set `waited` in every stripe, look again, queue up
//      release --not waited--> put       fast: one CAS
//              --waited--> under the lock: to the first waiter, never through the word
//      destroyed, or creation failed --waiter--> recreate: the right to create goes to the first that has none
//
// 5. Fields    everything but the words and the statistics: under the queue's lock
//
// 6. I5  a waiter is queued and the lock is free => no stripe has anything to give, unless the first is a parked thread that
//        was told to come, or everybody queued has a check under way, or creating is suspended and there is only room; and
//        every stripe has `waited` set
//    I6  the queue is empty and the lock is free => no stripe has `waited` set
//    I7  a slot is being created for at most one waiter, a waiter has at most one slot being created for it
//    I8  a function of the user's runs => its slot is out or busy, or asides_ counts it, or its caller is the user's own
//
// 7. Ordering table
// id  operation              order            pairs   carries                                             fails in
// T1  word: load             relaxed          -       nothing: a guess for the CAS                        (floor)
// T2  take, reserve: CAS     acq_rel/relaxed  T3 T4   in: the resource, and the unit of work that is      pool_model: put_vs_take
//                                                     counted; out: the unit it has entered
// T3  put: CAS               release/relaxed  T2 T4   out: what the holder wrote to the resource          pool_model: put_vs_take
// T4  commit: CAS            acq_rel/relaxed  T2 T3   both                                                pool_model: destroy_vs_waiter
// T5  snapshot: load         relaxed          -       nothing: the lock under which it decides carries    (floor)
//                                                     everything; outside it is for reports
// T6  holder, times          relaxed          -       nothing: reports want a recent value                (floor)
// T7  statistics             relaxed          -       nothing                                             (floor)
// T8  may_barge: load, store relaxed          -       nothing: a hint; the word decides                   (floor)
// T9  take, plain: CAS       acquire/relaxed  T3 T4   in: the resource; it entered nothing, so it gives   pool_model: put_vs_take
//                                                     nothing out
// H1  holder, aged: store    release          H2      out: since when                                     pool_time_model: leaks_vs_take
// H2  holder, aged: load     acquire          H1      in: since when, of this loan or a later one         pool_time_model: leaks_vs_take

#include <roost/pool/detail/pool_counters.hpp>
#include <roost/pool/detail/pool_waiter.hpp>
#include <roost/pool/detail/slot.hpp>
#include <roost/pool/error.hpp>
#include <roost/pool/options.hpp>
#include <roost/sync/detail/thread_waiter.hpp>
#include <roost/sync/detail/wait_list.hpp>
#include <roost/sync/detail/wait_operation.hpp>
#include <roost/tree/node.hpp>

#include <cstddef>
#include <exception>
#include <vector>

namespace roost::inline ROOST_ABI::detail {

class drop_limit;

class pool_core : public node {
public:
    // What the user's functions are like.
    struct kinds {
        bool creates_async = false;
        bool has_check = false;
        bool checks_async = false;
    };
    pool_core(pool_options options, kinds how, site made_at);
    pool_core(node& parent, pool_options options, kinds how, site made_at);
    void open() noexcept;  // after construction, and attached if it has a parent

    // --- fast paths ----------------------------------------------------------------------------------------------------
    // The newest idle resource of this thread's stripe, or of any other. Null: none, or not for newcomers.
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
    // The same for those who would not look at it before they use it; null when somebody has to.
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
                    leave();  // the unit has kept this pool until here
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
    // The right to create, for a newcomer.
    [[nodiscard]] slot_base* try_reserve() noexcept;
    // Whether there is room, and creating is suspended after this failure.
    [[nodiscard]] bool is_suspended(std::exception_ptr& why) noexcept;
    void discard(slot_base& s) noexcept;
    // False: served at once (see given).
    [[nodiscard]] bool enqueue(pool_waiter& w) noexcept;
    [[nodiscard]] bool cancel(pool_waiter& w, claim as) noexcept;
    [[nodiscard]] bool acquire_in_thread(pool_waiter& result, time_point deadline) noexcept;
    // What a waiter holds that will never run.
    void pass_on(pool_waiter& w) noexcept;
    // Why there is nothing for newcomers: stopped or closed, or nothing.
    [[nodiscard]] gift refusal() const noexcept;

    // --- creating and destroying ---------------------------------------------------------------------------------------
    // By the holder of a permit, when create is synchronous. False: w.cause says why.
    [[nodiscard]] bool create_here(pool_waiter& w) noexcept;
    // Ends of what the pool started itself. False: it was given up in the meantime, the caller keeps what it made.
    [[nodiscard]] bool claim_attempt(slot_base& s, std::uint32_t attempt) noexcept;
    void created(slot_base& s) noexcept;
    void create_failed(slot_base& s, std::exception_ptr why) noexcept;
    void emptied(slot_base& s) noexcept;
    // The attempt runs as a job: it is cancelled when its limit passes.
    void note_running(slot_base& s, std::uint32_t attempt, node& job) noexcept;
    // What runs for the pool beside its slots: an attempt past its limit, a destruction of what is in no slot, a report. Closing
    // waits for it. Begins while something else keeps the pool from ending; nothing of the user's is touched after end_aside().
    void begin_aside() noexcept;
    void end_aside() noexcept;
    void end_late() noexcept;  // of an attempt that was given up
    void begin_drop() noexcept;  // of a resource that is in no slot
    void end_drop() noexcept;
    // Null: it has no limit, or there is no memory for one.
    [[nodiscard]] drop_limit* make_drop_limit() const noexcept;
    void limit_passed(slot_base& s) noexcept;  // on the timer's thread
    void expire_attempt(slot_base& s) noexcept;
    [[nodiscard]] std::exception_ptr limit_error(int stripe, pool_operation operation) const noexcept;
    void report(pool_operation operation, int stripe, const std::exception_ptr& why) noexcept;
    // Ends of an awaitable check. Nobody's acquire fails by it.
    void checked(slot_base& s) noexcept;
    void check_failed(slot_base& s) noexcept;
    // The resource is gone already.
    void check_lost(slot_base& s) noexcept;
    // What to give to whoever took an idle resource: it, or nothing when it is unfit and on its way out, or unchecked.
    [[nodiscard]] gift examine(slot_base& s) noexcept;
    // Begins an awaitable check of a taken resource for nobody in particular.
    void check_aside(slot_base& s) noexcept;

    // --- life ------------------------------------------------------------------------------------------------------------
    void begin_close() noexcept;
    [[nodiscard]] bool enqueue_closer(waiter& w) noexcept;  // false: closed, and everything has ended
    [[nodiscard]] bool cancel_closer(waiter& w, claim as) noexcept;
    [[nodiscard]] bool close_in_thread(time_point deadline) noexcept;
    std::uint32_t clear_idle() noexcept;
    std::uint32_t resize(std::uint32_t capacity) noexcept;  // what it is now
    void warm_up() noexcept;
    bool create_one() noexcept;  // for nobody in particular; false: no room, or it failed
    void start_upkeep() noexcept;
    [[nodiscard]] pool_stats stats() noexcept;
    [[nodiscard]] std::vector<pool_holder> holders();
    // Whether an idle resource has to be looked at before it is given out.
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
    // Requires that nothing lies in the slot any more: when the limit passes, another attempt may put something there.
    void arm_attempt(slot_base& s, duration limit) noexcept;

    // What the resource's type knows.
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

    // A timer, and what the pool's executor does when it has fired.
    struct maintenance : work, timer {
        explicit maintenance(work::run_function what) noexcept;
        pool_core* core = nullptr;
    };

    [[nodiscard]] pool_stripe& home() noexcept {
        return stripe_count_ == 1  ? stripes_[0]
               : stripe_mask_ != 0 ? stripes_[thread_index() & stripe_mask_]
                                   : stripes_[thread_index() % stripe_count_];
    }
    // One transition of a stripe, committed once, with a unit of work if it is the stripe's first. fx: the caller holds the
    // queue's lock, where units must not be given back.
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
    [[nodiscard]] bool call_thread(pool_waiter& w, pool_effects& fx) noexcept;
    [[nodiscard]] pool_waiter* first_without_creation() noexcept;
    void create_for(pool_waiter& w, slot_base& s, pool_effects& fx) noexcept;
    void put_locked(slot_base& s, pool_effects& fx) noexcept;
    void begin_check(slot_base& s, pool_waiter* owner, pool_effects& fx) noexcept;
    void offer(slot_base& s, bool is_new) noexcept;
    void empty_locked(slot_base& s, pool_effects& fx) noexcept;
    void mark_waited(bool waited) noexcept;
    void settle_queue(pool_effects& fx) noexcept;
    void serve_the_rest(pool_effects& fx) noexcept;
    void call_when_reopened() noexcept;
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
    unsigned stripe_mask_ = 0;  // when the count is a power of two
    bool counts_ = false;
    stripe_state::word unit_ = 0;  // counted_bit when it counts: what a stripe's word has to say for the fast path
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
    bool is_drained_ = false;  // every place is free, for good
    bool has_ended_ = false;  // and nothing runs beside the places
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
    maintenance reopening_;  // the end of a suspension that somebody waits for

    pool_counters counters_;
};

}  // namespace roost::inline ROOST_ABI::detail
