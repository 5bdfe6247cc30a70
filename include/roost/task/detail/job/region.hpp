#pragma once

// The part of the tree that a body runs in: the node whose level its checkpoints read. A job is a region, and so is every
// scope, deadline and shield that its body has entered. The wait slot of a region holds the operation that its body is
// suspended in. So raising the region's level to cancel can abandon the wait, and only then.
//
// Why it is not simpler: after a wait is published any thread may wake the body, finish the job and free the node, while the
// thread that suspended it still has to make the wait cancellable. So the woken body first waits, in disarm(), until that
// thread has done so: commit() is its last touch. A cancel that comes in between leaves its mark in the slot itself, so that
// one word decides and no thread has to read the level again.
//
// slot     bits 3-63 the cancellable that the body is suspended in, 0 for none; bit 0 cancelled: sticky; bit 1 busy: a thread
//          is inside its try_cancel; bit 2 peeked: a thread reads what it waits on, and then does what a cancel that came
//          meanwhile left to it; both, posted (in a job's own region): bits 3-63 are the frame that its body, which has been
//          posted, unwinds from after it was taken out of a wait here or in an inner region, or goes on with after it gave way
//
//   idle --commit--> armed --disarm (woken)--> idle                                      fast path
//   idle --interrupt--> idle,cancelled --commit--> busy --try_cancel--> claimed: idle    the suspending thread unwinds
//                                                                   --> lost: armed      a wake is on its way to disarm
//   armed --interrupt--> busy --try_cancel--> claimed: idle                              the canceller posts the unwinding
//                                         --> lost: armed
//   idle --post_unwind, give_way--> posted --run--> idle                                 an interrupt only sets cancelled
//
// fields   cancellable: written by the body before S1; read by the thread that has set busy
// I1       at most one wait per region is armed
//
// id  operation            order            pairs    carries                                          fails in
// S1  commit: CAS          release          S2 S6    out: the wait, and nothing is touched afterwards region_model: cancel_vs_commit
// S2  interrupt: CAS       acq_rel          S1 S7 S9 in: the wait; out: the raised level              region_model: cancel_vs_commit
// S3  disarm: CAS          acquire          S4 S7    in: canceller and reader have left the frame     region_model: peek_vs_wake
// S4  after try_cancel     release          S3       out: the canceller has left the frame            region_model: wake_vs_cancel
// S5  load                 relaxed          -        only a first look: the CAS that follows decides  (floor)
// S6  peek: CAS            acquire          S1       in: the wait                                     region_model: peek_vs_wake
// S7  peeked: CAS          release/acquire  S3 S2    out: the reader has left; in: the raised level   region_model: cancel_vs_peek
// S8  posting, run         relaxed          -        the frame; the post orders it                    (floor)
// S9  commit, cancelled    acquire          S2       in: the raised level                             region_model: cancel_above_vs_commit
// S10  peeked, cancelled   relaxed          -        no thread acts on busy before S4                 (floor)

#include <roost/exec/detail/flight_recorder.hpp>
#include <roost/exec/detail/observing.hpp>
#include <roost/exec/detail/probes.hpp>
#include <roost/exec/executor.hpp>
#include <roost/sync/detail/holdings.hpp>
#include <roost/sync/waiter.hpp>
#include <roost/task/detail/frame/burial.hpp>
#include <roost/task/detail/frame/promise_base.hpp>
#include <roost/task/job_state.hpp>
#include <roost/tree/detail/node.hpp>

#include <algorithm>

namespace roost::inline ROOST_ABI::detail {

class cancellable;

// The operations of a wait. `what` reads only data in the waiting frame: the primitive may be gone.
class wait_functions {
public:
    using try_cancel_function = bool (*)(cancellable&) noexcept;
    using what_function = wait_target (*)(const cancellable&) noexcept;

    using joined_function = job_core* (*)(const cancellable&) noexcept;
    using subject_function = wait_subject (*)(const cancellable&) noexcept;

    constexpr wait_functions(try_cancel_function cancel, what_function what_on, bool is_uninterruptible = false) noexcept
        : try_cancel_(cancel), what_(what_on), uninterruptible_(is_uninterruptible) {}
    // For a wait for the end of a job. The wait keeps that job alive.
    constexpr wait_functions(try_cancel_function cancel, what_function what_on, joined_function who,
                             subject_function which = nullptr) noexcept
        : try_cancel_(cancel), what_(what_on), joined_(who), subject_(which) {}
    bool try_cancel(cancellable& self) const noexcept { return try_cancel_(self); }
    [[nodiscard]] wait_target what(const cancellable& self) const noexcept { return what_(self); }
    [[nodiscard]] bool is_uninterruptible() const noexcept { return uninterruptible_; }
    // Returns the job that is waited for; null if the wait is for something else.
    [[nodiscard]] job_core* joined(const cancellable& self) const noexcept {
        return joined_ == nullptr ? nullptr : joined_(self);
    }

    // Returns the primitive that is waited for.
    [[nodiscard]] wait_subject subject(const cancellable& self) const noexcept {
        return subject_ == nullptr ? wait_subject() : subject_(self);
    }

private:
    try_cancel_function try_cancel_;
    what_function what_;
    joined_function joined_ = nullptr;
    subject_function subject_ = nullptr;
    bool uninterruptible_ = false;
};

// An operation that a suspended frame can be taken out of.
class cancellable {
public:
    cancellable(promise_base& frame, const wait_functions& functions) noexcept : frame_(&frame), functions_(&functions) {}
    cancellable(const cancellable&) = delete;
    cancellable& operator=(const cancellable&) = delete;

    [[nodiscard]] promise_base& frame() const noexcept { return *frame_.get(); }
    // Returns the stamp of this wait, which no other wait has; 0 if owners were not tracked when it began.
    [[nodiscard]] std::int64_t stamp() const noexcept { return stamp_; }

protected:
    ~cancellable() = default;

private:
    friend class region;
    std::int64_t stamp_;  // written by commit()
    plain<promise_base*> frame_;
    plain<const wait_functions*> functions_;
};

class region : public node {
public:
    // Returns the job whose body runs in this region: a job's region has its own, every other one stores it.
    [[nodiscard]] job_core& owner() const noexcept;
    [[nodiscard]] reason why() const noexcept { return node::why(level::cancel); }

    // Called when the wait has been published. Returns true if it is cancelled: the caller owns the frame again. Otherwise
    // nothing of the frame or the region may be touched any more.
    [[nodiscard]] bool commit(cancellable& what) noexcept {
        ROOST_PROBE2(job_suspend, &owner(), what.frame_.get());
        what.stamp_ = 0;
        if (observing::any()) [[unlikely]] {
            note_suspended(what);
        }
        std::uintptr_t expected = 0;
        if (slot_.compare_exchange_strong(expected, word_of(what), mo::release, mo::relaxed)) [[likely]] {  // S1
            return false;
        }
        return commit_cancelled(what);
    }
    // Called by the woken body, before it does anything else.
    void disarm(cancellable& what) noexcept {
        std::uintptr_t expected = word_of(what);
        if (!slot_.compare_exchange_strong(expected, 0, mo::acquire, mo::relaxed)) [[unlikely]] {  // S3
            disarm_slow(what);
        }
    }

    // As disarm(), for whatever the body waited for: it unwinds instead of being resumed.
    void leave_wait() noexcept;
    // Returns true if the job is cancelled, and nothing between it and this region delays that.
    [[nodiscard]] bool is_cancelled_with_its_job() const noexcept;

    // Counts a step of the body (task/detail/frame/slice.hpp). Returns true for the last one before it has to read the clock.
    [[nodiscard]] bool is_last_step() noexcept { return --steps_left_ == 0; }
    void set_steps(std::uint8_t count) noexcept { steps_left_ = count; }
    // Called when the body continues in this region.
    void begin_steps() noexcept {
#if defined(ROOST_SEAM_MODEL)
        steps_left_ = slice::first_steps;  // one scheduling point less in every model
#else
        steps_left_ = deadline() == no_deadline ? slice::first_steps : std::uint8_t(1);
#endif
    }
    // Called when the body goes from `outer` into this region.
    void inherit_steps(const region& outer) noexcept { steps_left_ = std::min(steps_left_, outer.steps_left_); }

    // Called by the body: a scope in it was cancelled while it waited for its children, so the body's value is not all that
    // it was to do. Applies to `innermost` and the cancelled regions around it, up to the job.
    static void note_cut_short(region& innermost) noexcept;

    // Called when the region's level rises: takes the body out of its wait and has it unwound on its executor.
    static void level_raised(node& self, level now) noexcept;
    // Adds what the body is suspended in to a report. Thread-safe. Requires that the region has an owner.
    static void describe(const node& self, node_description& d) noexcept;
    // Returns the time by the executor's clock. Requires that the region has an owner.
    static time_point clock(const node& self) noexcept;
    // Returns the region that the node is, null if it is none, or one that no body runs in.
    [[nodiscard]] static region* from(node& n) noexcept {
        return n.functions().clock == &clock ? static_cast<region*>(&n) : nullptr;
    }
    // Calls look(context, wait, its functions) with the operation that the body is suspended in here, if there is one. The body
    // cannot leave the wait meanwhile. look() must not wait for another thread.
    using wait_look = void (*)(void* context, const cancellable& waiting, const wait_functions& functions) noexcept;
    void look_at_wait(void* context, wait_look look) noexcept;
    // Returns the job whose end the body waits for in this region, retained for the caller; null if there is none.
    [[nodiscard]] job_core* joined_job() noexcept;

protected:
    // Takes the body out of its wait, now or when it begins to wait.
    void interrupt() noexcept;

    // The region of a job is marked.
    region(const node_functions& functions, node& parent, node_name name, site made_at, node_shape shape)
        : node(functions, parent, name, made_at, shape) {}
    region(const node_functions& functions, node_name name, site made_at) : node(functions, name, made_at) {}

    // For a job's own region, from post to run.
    void keep_posted(promise_base& frame) noexcept;
    [[nodiscard]] promise_base& take_posted() noexcept {
        const std::uintptr_t word = slot_.fetch_and(cancelled_bit, mo::relaxed);  // S8
        return *reinterpret_cast<promise_base*>(word & pointer_mask);
    }

private:
    static constexpr std::uintptr_t cancelled_bit = 1;
    static constexpr std::uintptr_t busy_bit = 2;
    static constexpr std::uintptr_t peeked_bit = 4;
    static constexpr std::uintptr_t posted_bits = busy_bit | peeked_bit;
    static constexpr std::uintptr_t pointer_mask = ~std::uintptr_t(7);
    static std::uintptr_t word_of(const cancellable& what) noexcept { return reinterpret_cast<std::uintptr_t>(&what); }

    [[nodiscard, gnu::noinline, gnu::cold]] static job_core& owner_of_buried() noexcept;
    void claim_and_unwind(cancellable& what) noexcept;
    void describe_wait(node_description& d) noexcept;
    template <class Look>
    void peek(Look look) noexcept;
    [[gnu::noinline, gnu::cold]] void note_suspended(cancellable& what) noexcept;
    bool commit_cancelled(cancellable& what) noexcept;
    bool claim_wait(cancellable& what) noexcept;
    void disarm_slow(cancellable& what) noexcept;

    // A byte for the job; it fits between the fields of node and of region.
protected:
    atomic<job_state> phase_{job_state::fresh};

private:
    std::uint8_t steps_left_ = slice::first_steps;  // the body's own; never 0
    atomic<std::uintptr_t> slot_{0};
};

// Returns the line of the innermost await in the program's own code. Called by the body, or while it cannot leave its wait.
[[nodiscard]] site await_line(const promise_base& innermost) noexcept;

// A region other than a job's own: a job's body runs in it, or none does (a scope outside of jobs).
class guest_region : public region {
public:
    guest_region(const node_functions& functions, node& parent, node_name name, site made_at, node_shape shape,
                 job_core& owner)
        : region(functions, parent, name, made_at, shape), owner_(&owner) {}
    // No body runs in these themselves, only in regions below.
    guest_region(const node_functions& functions, node_name name, site made_at) : region(functions, name, made_at) {}
    guest_region(const node_functions& functions, node& parent, node_name name, site made_at)
        : region(functions, parent, name, made_at, {}) {}

    [[nodiscard]] bool is_cut_short() const noexcept { return cut_short_; }

private:
    friend class region;
    job_core* owner_ = nullptr;
    bool cut_short_ = false;
};

// A boundary that waits for something other than a frame. It is posted to the body's executor, and always has a frame to
// continue with.
class continuation : public work {
public:
    using function = next_step (*)(continuation&) noexcept;
    explicit continuation(function then) noexcept : work(run_then), go_on_(then) {}

private:
    static void run_then(work& self) noexcept;
    function go_on_;
};

}  // namespace roost::inline ROOST_ABI::detail
