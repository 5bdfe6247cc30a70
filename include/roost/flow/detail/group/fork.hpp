#pragma once

// Children that one body starts and waits for together: the base of when_all and race. docs/design/spawning.md gives the
// reasons.
//
// The awaiting body holds the group. It runs the first child itself, in a job of the group's scope, without a queue. The
// children that have not begun are one work item, the queue entry, which it has posted before. When the child has returned
// and the entry is the next item this thread would run, the body takes it back. The next child then runs in the same job, if
// that is unobserved: no code holds a reference to it. Any other thread that gets the entry (or this one, because the child
// is suspended) passes it on and runs one child as a job of its own. So a child that begins is a job like any other, and the
// group ends with its scope.
//
//   entry    rest_ and the scope's own unit belong to the thread that holds it; in a queue to none
//   job      J, the first one of the scope: the awaiting body's, until a child suspends, fails, is cancelled or is observed in it
//
//   --start--> J runs, entry posted --child returned, entry taken back--> J runs the next --none left--> resume
//                                   --entry gone, or J observed--> J ends --scope drained--> posted, resume
//
// I1       exactly one of: posted, held, finished; the thread that finds nothing left to start finishes it: closes the scope
// I2       the group is alive as long as its scope has a unit
// I3       scope and job of a group that ended unobserved are kept by the job above (spare) for its next group; only
//          the body of that job touches them
//
// The orders are in fork_job.hpp and fork_scope.hpp. The executor's queue hands over the entry's fields.

#include <roost/flow/detail/group/fork_scope.hpp>
#include <roost/flow/detail/group/fork_slot.hpp>

namespace roost::inline ROOST_ABI::detail {

// The differences between the kinds of groups.
struct fork_rules {
    const scope_policy& policy;
    node_name child;
    // True: a failure fails the group, and a child that ends cancelled cancels the others. False: failures are part of the
    // result, and the slots are outcome_slots.
    bool needs_all;
    // Called when a child has ended, or could not begin for want of memory (`ran` is null then). Returns true if the others
    // are not needed.
    bool (*ended)(fork&, fork_slot&, ending, job_core* ran) noexcept;
    // Called when all have ended and nothing failed. Returns what the awaiting body does.
    next_step (*finish)(fork&) noexcept;
};

class fork_entry : public work {
protected:
    explicit fork_entry(run_function go) noexcept : work(go) {}
    ~fork_entry() = default;
};

class fork : private fork_entry, private continuation {
public:
    fork(promise_base& me, const fork_rules& rules) noexcept
        : fork_entry(run_entry), continuation(go_on), me_(&me), rules_(&rules) {}

    // Called by await_suspend. Returns the frame to continue with, or null.
    [[nodiscard]] promise_base* start(node_name name, site where);
    // Called in a job of the group, on its executor.
    next_step child_done(fork_slot& slot, ending how, reason& why) noexcept;

    [[nodiscard]] continuation& when_drained() noexcept { return *this; }

    // For fork_rules.
    [[nodiscard]] promise_base& waiter() const noexcept { return *me_; }
    [[nodiscard]] fork_slot* first() const noexcept { return first_; }
    [[nodiscard]] static fork_slot* after(const fork_slot& s) noexcept { return s.next_; }
    // Ends the awaiting body cancelled: because it was, or for the reason of the first child that is.
    [[nodiscard]] next_step end_cancelled() noexcept;
    // Sends the errors in the slots to the failure sink, because there will be no result that holds them.
    void report_slots(std::string_view what) const noexcept;

protected:
    ~fork();
    // Adds a slot. Children begin in the order of these calls.
    void add(fork_slot& slot) noexcept {
        slot.group_ = this;
        *(last_ == nullptr ? &rest_ : &last_->next_) = &slot;
        last_ = &slot;
        first_ = first_ == nullptr ? &slot : first_;
    }
    // Called before the slots are destroyed. Destroys the frames that have not begun, in order.
    void drop_rest() noexcept;
    void rethrow_failure() const {
        if (failure_) [[unlikely]] {
            std::rethrow_exception(failure_);
        }
    }

private:
    static void run_entry(work& self) noexcept;
    static next_step go_on(continuation& self) noexcept;
    [[nodiscard]] promise_base* begin_here(runner& here) noexcept;
    [[nodiscard]] next_step end_here(runner& here) noexcept;
    void begin_elsewhere() noexcept;
    [[nodiscard]] bool pass_on(executor_ref to) noexcept;
    void end_job(fork_job& ran, fork_slot& slot, ending how, reason& why, bool decided) noexcept;
    [[nodiscard]] promise_base& take_first() noexcept;
    [[nodiscard]] reason reason_from_above() const noexcept;
    void keep_slots() const noexcept;
    void could_not_begin(fork_slot& slot, std::exception_ptr error) noexcept;

    promise_base* me_;
    const fork_rules* rules_;
    fork_slot* first_ = nullptr;
    fork_slot* last_ = nullptr;
    fork_slot* rest_ = nullptr;  // not begun; owned with the queue entry
    fork_scope* scope_ = nullptr;
    job_core* entered_ = nullptr;  // whose loop the first child began in
    std::exception_ptr failure_;
    bool posted_ = false;  // the queue entry, as far as J knows
};

}  // namespace roost::inline ROOST_ABI::detail
