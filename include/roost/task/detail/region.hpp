#pragma once

// Where a body is: the node whose level its checkpoints read. A job is a region, and so is every scope, deadline and shield
// that its body has entered. The wait slot of a region holds what its body is suspended in, so that raising the region's
// level to cancel can abandon the wait, and only then.
//
// Why it is not simpler: after a wait is published any thread may wake the body, finish the job and free the node, while the
// thread that suspended it still has to make the wait cancellable. So the woken body first waits, in disarm(), until that
// thread has done so: commit() is its last touch. And a cancel that comes in between leaves its mark in the slot itself, so
// that one word decides and nobody has to look at the level again.
//
// slot     bits 3-63 the cancellable that the body is suspended in, 0 for none; bit 0 cancelled: sticky; bit 1 busy: somebody
//          is inside its try_cancel; bit 2 peeked: somebody reads what it waits on, and then does what a cancel that came
//          meanwhile left to it; both, unwinding (in a job's own region): bits 3-63 are the frame that its body, which has
//          been taken out of a wait here or in an inner region and posted, unwinds from
//
//   idle --commit--> armed --disarm (woken)--> idle                                      fast path
//   idle --interrupt--> idle,cancelled --commit--> busy --try_cancel--> claimed: idle    the suspending thread unwinds
//                                                                   --> lost: armed      a wake is on its way to disarm
//   armed --interrupt--> busy --try_cancel--> claimed: idle                              the canceller posts the unwinding
//                                         --> lost: armed
//   idle --post_unwind--> unwinding --run--> idle                                        an interrupt only sets cancelled
//
// fields   cancellable: written by the body before S1; read by whoever has set busy
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
// S8  post_unwind, run     relaxed          -        the frame; the post orders it                    (floor)
// S9  commit, cancelled    acquire          S2       in: the raised level                             region_model: cancel_vs_commit
// S10  peeked, cancelled   relaxed          -        nobody acts on busy before S4                    (floor)

#include <roost/exec/executor.hpp>
#include <roost/sync/waiter.hpp>
#include <roost/task/detail/promise.hpp>
#include <roost/task/job_state.hpp>
#include <roost/tree/node.hpp>

namespace roost::inline ROOST_ABI::detail {

class cancellable;

// What a wait can be asked. `what` reads only what lives in the waiting frame: the primitive may be gone.
class wait_functions {
public:
    using try_cancel_function = bool (*)(cancellable&) noexcept;
    using what_function = wait_target (*)(const cancellable&) noexcept;

    constexpr wait_functions(try_cancel_function cancel, what_function what_on, bool is_uninterruptible = false) noexcept
        : try_cancel_(cancel), what_(what_on), uninterruptible_(is_uninterruptible) {}
    bool try_cancel(cancellable& self) const noexcept { return try_cancel_(self); }
    [[nodiscard]] wait_target what(const cancellable& self) const noexcept { return what_(self); }
    [[nodiscard]] bool is_uninterruptible() const noexcept { return uninterruptible_; }

private:
    try_cancel_function try_cancel_;
    what_function what_;
    bool uninterruptible_;
};

// Something a suspended frame can be taken out of.
class cancellable {
public:
    cancellable(promise_base& frame, const wait_functions& functions) noexcept : frame_(&frame), functions_(&functions) {}
    cancellable(const cancellable&) = delete;
    cancellable& operator=(const cancellable&) = delete;

    [[nodiscard]] promise_base& frame() const noexcept { return *frame_.get(); }

protected:
    ~cancellable() = default;

private:
    friend class region;
    plain<promise_base*> frame_;
    plain<const wait_functions*> functions_;
};

class region : public node {
public:
    // Whose body runs in it: a job's region is its own, every other one says so itself.
    [[nodiscard]] body& owner() const noexcept;
    // The checkpoint: one load.
    [[nodiscard]] bool is_cancelled() const noexcept { return should_stop_now_relaxed(); }
    [[nodiscard]] reason why() const noexcept { return node::why(level::cancel); }

    // The wait has been published. True: it is cancelled and the caller owns the frame again. Else nothing of the frame or
    // the region may be touched any more.
    [[nodiscard]] bool commit(cancellable& what) noexcept {
        std::uintptr_t expected = 0;
        if (slot_.compare_exchange_strong(expected, word_of(what), mo::release, mo::relaxed)) [[likely]] {  // S1
            return false;
        }
        return commit_cancelled(what);
    }
    // By the woken body, before it does anything else.
    void disarm(cancellable& what) noexcept {
        std::uintptr_t expected = word_of(what);
        if (!slot_.compare_exchange_strong(expected, 0, mo::acquire, mo::relaxed)) [[unlikely]] {  // S3
            disarm_slow(what);
        }
    }

    // What a region does when its level rises: takes the body out of its wait and has it unwound on its executor.
    static void level_raised(node& self, level now) noexcept;
    // Adds what the body is suspended in to a report; from any thread. For regions that have an owner.
    static void describe(const node& self, node_description& d) noexcept;

protected:
    // Says whether nobody had before.
    bool interrupt() noexcept;

    // The region of a job is marked.
    region(const node_functions& functions, node& parent, node_name name, site made_at, node_shape shape)
        : node(functions, parent, name, made_at, shape) {}
    region(const node_functions& functions, node_name name, site made_at) : node(functions, name, made_at) {}

    // In a job's own region, from post to run.
    void keep_unwinding(promise_base& frame) noexcept;
    [[nodiscard]] promise_base& take_unwinding() noexcept {
        const std::uintptr_t word = slot_.fetch_and(cancelled_bit, mo::relaxed);  // S8
        return *reinterpret_cast<promise_base*>(word & pointer_mask);
    }

private:
    static constexpr std::uintptr_t cancelled_bit = 1;
    static constexpr std::uintptr_t busy_bit = 2;
    static constexpr std::uintptr_t peeked_bit = 4;
    static constexpr std::uintptr_t unwinding_bits = busy_bit | peeked_bit;
    static constexpr std::uintptr_t pointer_mask = ~std::uintptr_t(7);
    static std::uintptr_t word_of(const cancellable& what) noexcept { return reinterpret_cast<std::uintptr_t>(&what); }

    void claim_and_unwind(cancellable& what) noexcept;
    void describe_wait(node_description& d) noexcept;
    bool commit_cancelled(cancellable& what) noexcept;
    bool claim_wait(cancellable& what) noexcept;
    void disarm_slow(cancellable& what) noexcept;

    // Two bytes that a job uses, here because they fit between the fields of node and of region.
protected:
    atomic<job_state> phase_{job_state::fresh};
    bool has_extras_ = false;

private:
    atomic<std::uintptr_t> slot_{0};
};

// A region that some job's body runs in besides its own, or none (a scope outside of jobs).
class guest_region : public region {
public:
    guest_region(const node_functions& functions, node& parent, node_name name, site made_at, node_shape shape, body& owner)
        : region(functions, parent, name, made_at, shape), owner_(&owner) {}
    // Nothing runs in these themselves, only in what is below.
    guest_region(const node_functions& functions, node_name name, site made_at) : region(functions, name, made_at) {}
    guest_region(const node_functions& functions, node& parent, node_name name, site made_at)
        : region(functions, parent, name, made_at, {}) {}

private:
    friend class region;
    body* owner_ = nullptr;
};

// A boundary that waits for something other than a frame, and what it does then: posted to the body's executor. It always
// has a frame to go on with.
class continuation : public work {
public:
    using function = next_step (*)(continuation&) noexcept;
    explicit continuation(function then) noexcept : work(run_then), go_on_(then) {}

private:
    static void run_then(work& self) noexcept;
    function go_on_;
};

// What runs: one chain of frames at a time, on one executor. Part of a job's block, and only of that. Posted at its start and
// when a cancelled wait is to be unwound; never twice at once.
class body : public work {
public:
    body() noexcept : work(nullptr) {}

    [[nodiscard]] executor_ref where() const noexcept;

    // On the executor: sets the current job of the thread and runs until nothing is left to do here.
    void run(promise_base& frame) noexcept;
    void run(next_step step) noexcept;

    // From any thread that owns the suspended frame.
    void post_unwind(promise_base& frame) noexcept;
    // Has `then` run on the executor, in the body.
    void post_then(continuation& then) noexcept;

    [[nodiscard]] static body* current() noexcept { return runner::of_this_thread().current; }
    // Whether a body's loop is on this stack.
    [[nodiscard]] static bool is_any_here() noexcept { return runner::of_this_thread().entered != nullptr; }

private:
    static void run_unwind(work& self) noexcept;
    [[nodiscard]] bool begins_for_joiner(runner& here) const noexcept;
    [[nodiscard]] bool leave_to_own_loop(runner& here, next_step step) noexcept;
    [[gnu::noinline]] void run_inside_another(runner& here, next_step step) noexcept;
};

}  // namespace roost::inline ROOST_ABI::detail
