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
//          meanwhile left to it
//
//   idle --commit--> armed --disarm (woken)--> idle                                      fast path
//   idle --interrupt--> idle,cancelled --commit--> busy --try_cancel--> claimed: idle    the suspending thread unwinds
//                                                                   --> lost: armed      a wake is on its way to disarm
//   armed --interrupt--> busy --try_cancel--> claimed: idle                              the canceller posts the unwinding
//                                         --> lost: armed
//
// fields   cancellable: written by the body before S1; read by whoever has set busy
// I1       at most one wait per region is armed
//
// id  operation            order            pairs    carries                                          fails in
// S1  commit: CAS          acq_rel/acquire  S2 S3    out: the wait, and nothing is touched afterwards region_model: wake_vs_commit
// S2  interrupt: CAS       acq_rel/acquire  S1       in: the wait; out: the raised level, for S1      region_model: cancel_vs_commit
// S3  disarm: CAS          acq_rel/acquire  S1 S4    in: suspending thread and canceller have left    region_model: wake_vs_cancel
// S4  after try_cancel     release          S3       out: the canceller has left the frame            region_model: wake_vs_cancel
// S5  load                 acquire          S2       only a first look: the CAS that follows decides  (floor)
// S6  peek: CAS            acq_rel/acquire  S1       in: the wait                                     region_model: peek_vs_wake
// S7  peeked: CAS, store   acq_rel/acquire  S2 S3    out: the reader has left the frame               region_model: peek_vs_cancel

#include <roost/exec/executor.hpp>
#include <roost/sync/waiter.hpp>
#include <roost/task/detail/promise.hpp>
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

    [[nodiscard]] promise_base& frame() const noexcept { return *frame_; }

protected:
    ~cancellable() = default;

private:
    friend class region;
    promise_base* frame_;
    const wait_functions* functions_;
};

class region : public node {
public:
    region(const node_functions& functions, node& parent, node_name name, site made_at, node_shape shape, body& owner)
        : node(functions, parent, name, made_at, shape), owner_(&owner) {}
    // Nothing runs in these themselves, only in what is below.
    region(const node_functions& functions, node_name name, site made_at) : node(functions, name, made_at) {}
    region(const node_functions& functions, node& parent, node_name name, site made_at)
        : node(functions, parent, name, made_at) {}

    [[nodiscard]] body& owner() const noexcept { return *owner_; }
    // The checkpoint: one load.
    [[nodiscard]] bool is_cancelled() const noexcept { return should_stop_now_relaxed(); }
    [[nodiscard]] reason why() const noexcept { return node::why(level::cancel); }

    // The wait has been published. True: it is cancelled and the caller owns the frame again. Else nothing of the frame or
    // the region may be touched any more.
    [[nodiscard]] bool commit(cancellable& what) noexcept {
        std::uintptr_t expected = 0;
        if (slot_.compare_exchange_strong(expected, word_of(what), mo::acq_rel, mo::acquire)) [[likely]] {  // S1
            return false;
        }
        return commit_cancelled(what);
    }
    // By the woken body, before it does anything else.
    void disarm(cancellable& what) noexcept {
        std::uintptr_t expected = word_of(what);
        if (!slot_.compare_exchange_strong(expected, 0, mo::acq_rel, mo::acquire)) [[unlikely]] {  // S3
            disarm_slow(what);
        }
    }

    // What a region does when its level rises: takes the body out of its wait and has it unwound on its executor.
    static void level_raised(node& self, level now) noexcept;
    // Adds what the body is suspended in to a report; from any thread.
    static void describe(const node& self, node_description& d) noexcept;

protected:
    // Says whether nobody had before.
    bool interrupt() noexcept;

private:
    static constexpr std::uintptr_t cancelled_bit = 1;
    static constexpr std::uintptr_t busy_bit = 2;
    static constexpr std::uintptr_t peeked_bit = 4;
    static std::uintptr_t word_of(const cancellable& what) noexcept { return reinterpret_cast<std::uintptr_t>(&what); }

    void claim_and_unwind(cancellable& what) noexcept;
    void describe_wait(node_description& d) noexcept;
    bool commit_cancelled(cancellable& what) noexcept;
    bool claim_wait(cancellable& what) noexcept;
    void disarm_slow(cancellable& what) noexcept;

    atomic<std::uintptr_t> slot_{0};
    body* owner_ = nullptr;
};

// A boundary that waits for something other than a frame, and what it does then.
class continuation {
public:
    using function = next_step (*)(continuation&) noexcept;
    explicit continuation(function then) noexcept : go_on_(then) {}
    [[nodiscard]] next_step go_on() noexcept { return go_on_(*this); }

private:
    function go_on_;
};

// What runs: one chain of frames at a time, on one executor. Part of a job's block. Posted at its start, when a cancelled
// wait is to be unwound, and when a boundary that has been waiting goes on; never twice at once.
class body : public work {
public:
    explicit body(executor_ref where) noexcept : work(nullptr), where_(where) {}

    [[nodiscard]] executor_ref where() const noexcept { return where_; }

    // On the executor: sets the current job of the thread and runs until nothing is left to do here.
    void run(promise_base& frame) noexcept;
    void run(next_step step) noexcept;

    // From any thread that owns the suspended frame.
    void post_start(promise_base& frame) noexcept;
    void post_unwind(promise_base& frame) noexcept;
    // Has `then.go_on()` run on the executor, in the body.
    void post_then(continuation& then) noexcept;

    [[nodiscard]] static body* current() noexcept { return runner::of_this_thread().current; }

private:
    void post(work::run_function function, void* argument) noexcept;
    static void run_start(work& self) noexcept;
    static void run_unwind(work& self) noexcept;
    static void run_then(work& self) noexcept;

    executor_ref where_;
    void* argument_ = nullptr;
};

}  // namespace roost::inline ROOST_ABI::detail
