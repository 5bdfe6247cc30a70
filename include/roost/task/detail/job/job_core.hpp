#pragma once

// A started child: node, body and outcome in one block that outlives the frame. docs/architecture-walk.md follows one.
//
// region, job_core, joiner, scope_core and the failures are one knot: one block per job, one order of steps.
//
//   scope_core <----- parent_ (a reference) -----+     list of its children ----> this node, from attach() to the end
//                                                |
//   +---------------- job_block<T> --------------|----+
//   | node       level, units and references, parent  |<---- job, deferred<T>, token: a reference each
//   |            list: children, callbacks, joiners --|----> joiner, in the frame of each body that waits for the job
//   | region     wait slot ---------------------------|----> the posted frame, or the wait in the innermost frame
//   |            phase, steps left                    |<---- region_ of every frame that runs in this region
//   | work       hook                                 |<---- queue of the executor, while the body is posted
//   | job_core   watched, events, extras, birth       |
//   +------- up to here: at most 128 bytes -----------+
//   | result_link<T>  outcome: value, error or reason |<---- link_ of the first frame
//   +-------------------------------------------------+
//
// who may touch what, when
//   part                       written by                              read by                             protected by
//   region: wait slot          body, canceller, report                 the same                            S1 to S10
//   region: wait in it         body, before commit                     the thread that set busy or peeked  S1 S2 S6
//   region: steps left         body                                    body                                one thread at a time
//   job_core: phase            starter, body; at the end drained()     any holder of a reference           J1 J2 J3
//   job_core: outcome          body, until its frame is gone           drained(); when final any holder    J2 to J1
//   job_core: extras           body, until the job is final            as the outcome                      locks of their table
//   job_core: work item        the one thread that posts it            the executor                        the post
//   joiner                     waiting body, its canceller, drained()  the same                            lock of the job's node
//   scope_core: where, policy  constructor                             all                                 constant
//   scope_core: the rest       the thread that ends a child            the same; at its end without lock   rare_lock_
//   failure_list: links        constructor of the link                 all holders                         K1 to K3
//
// Outstanding work is the node's units: the body, and leases and nodes below it. The thread that gives back the last one runs
// drained(): the outcome is settled already, the failure is routed to the parent, then the state becomes final, then joiners
// wake, then the parent's unit goes. So a final state is visible only after its failure was routed, and no part of the block
// is touched after the step that lets the last holder free it.
//
// A job without a handle, a failure and an observer ends without any of this: it leaves its scope's list, and is gone.
//
// fields   link       the body until it has ended, then constant
//          phase_     final: written once, by drained()
//          joiners    in the node's list, under its lock
//
// id  operation               order    pairs  carries                                  fails in
// J1  phase: load             acquire  J2     the outcome, what the job wrote          job_core_model: a_final_state_carries, a_finished_job_carries
// J2  drained: store final    seq_cst  J1 J5  the outcome; before the look at the list job_core_model: late_join
// J3  started: store          relaxed  -      a statistic for state()                  (floor)
// J6  join here: load         relaxed  J3     nothing: who begins it is decided by the queue    (floor)
// J5  enqueue: load           seq_cst  J2 N3  queued before the final state, or sees it job_core_model: late_join
// J4  claim: CAS              relaxed  -      nothing: the winner writes the outcome   promise_model: set_vs_cancel
// J4 survives compare_exchange as load and store: a promise takes its callback out, and waits for it, before it claims

#include <roost/exec/detail/recent_time.hpp>
#include <roost/sync/detail/wait_list.hpp>
#include <roost/sync/detail/wait_operation.hpp>
#include <roost/task/detail/job/event_sequence.hpp>
#include <roost/task/detail/job/failure_list.hpp>
#include <roost/task/detail/job/region.hpp>
#include <roost/task/detail/job/watching.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace roost::inline ROOST_ABI::detail {

class scope_core;

// scheduled: never inside the call. immediate: inside the call if that is made on the executor. always: even if cancelled.
enum class start_mode : unsigned char { scheduled, immediate, always };

// Facts that depend on the type of a job's block.
struct job_functions : node_functions {
    std::size_t link_at;  // offset of the outcome in the block
};

class job_core : public region, public work {
public:
    // Defined where scope_core is complete, as the functions that reach it.
    job_core(const job_functions& functions, scope_core& parent, node_name name, site made_at);

    [[nodiscard]] job_state state() const noexcept;
    [[nodiscard]] bool is_final() const noexcept { return roost::is_final(phase_.load(mo::acquire)); }  // J1
    // Requires that the job is final, or that the caller is its body.
    [[nodiscard]] settled_link& outcome_link() const noexcept {
        const std::size_t at = static_cast<const job_functions&>(functions()).link_at;
        return *reinterpret_cast<settled_link*>(reinterpret_cast<std::uintptr_t>(this) + at);
    }
    // The node stores the parent; only the constructor above sets it. A typed pointer would exceed the 128 bytes.
    [[nodiscard]] scope_core& parent_scope() const noexcept;
    // Returns where the body runs: the executor of its scope.
    [[nodiscard]] executor_ref executor() const noexcept;

    // --- the body: one chain of frames at a time. Posted at its start, and when a cancelled wait is to be unwound; never twice
    // at once.
    // Runs on the executor: sets the current job of the thread and runs until nothing is left to do here.
    void run(promise_base& frame) noexcept;
    void run(next_step step) noexcept;
    // Called by any thread that owns the suspended frame.
    void post_unwind(promise_base& frame) noexcept;
    // Called by the running body, whose innermost frame stays suspended: posts the body behind everything that is queued;
    // `frame` continues then. Returns false, and does nothing, if the executor refuses the work.
    [[nodiscard]] bool give_way(promise_base& frame) noexcept;
    // Posts `then` to the executor, to run in the body.
    void post_then(continuation& then) noexcept;
    // Returns the job whose body runs on this thread; null if there is none.
    [[nodiscard]] static job_core* current() noexcept { return runner::of_this_thread().current; }
    // Returns true if a body's loop is on this stack.
    [[nodiscard]] static bool is_any_here() noexcept { return runner::of_this_thread().entered != nullptr; }

    // --- the job

    // For a fresh, attached job: posts the frame, or ends the job if it was born cancelled.
    void start(promise_base& frame, start_mode mode) noexcept;
    // For jobs without a frame. One claim decides which thread settles the outcome; the winner writes it, then ends the body.
    void begin_external() noexcept {
        phase_.store(job_state::active, mo::relaxed);  // J3
        if (reports_its_birth()) [[unlikely]] {
            notify_created(job_state::active);
        }
    }
    [[nodiscard]] bool claim_outcome() noexcept {
        job_state expected = job_state::active;
        return phase_.compare_exchange_strong(expected, job_state::completing, mo::relaxed, mo::relaxed);  // J4
    }
    void end_body() noexcept;

    // Called by a body in the same scope that waits for this job: runs it inside the call if this thread would run it next
    // anyway. Returns true if it has returned: the caller has the only reference, no observer or joiner has been notified,
    // and the caller calls end_joined() when the value has been taken.
    [[nodiscard]] bool run_for_joiner() noexcept;
    void end_joined() noexcept;  // frees the reference too

    // For groups (flow/detail/group/fork.hpp). Begins on the executor, inside the call, unless the job is cancelled already.
    void start_here(promise_base& frame) noexcept;
    // As above, when the caller resumes the frame itself.
    void begin_here() noexcept {
        if (reports_its_birth()) [[unlikely]] {
            notify_begun();
        }
        phase_.store(job_state::active, mo::relaxed);  // J3
    }
    // Returns true if nothing is to be reported when the job returns now.
    [[nodiscard]] bool has_nothing_to_report() const noexcept {
        return !has_extras_ && !is_watched() && (watched_ & watching::measured) == 0;
    }

    // --- further failures of the body -----------------------------------------------------------------------------------
    // For a body that has ended. Returns the failures that none of its handlers could catch (such as those of its cleanup),
    // and those that travelled with the error it ended with. They stay: handles on other threads may read them too.
    [[nodiscard]] failure_list suppressed() const noexcept;
    // Returns the error the job ended with, or null.
    [[nodiscard]] std::exception_ptr own_error() const noexcept;
    // Keeps a failure that no handler can catch. From the hundredth on they go to the failure sink at once.
    void add_suppressed(std::exception_ptr error) noexcept;
    [[nodiscard]] std::size_t suppressed_count() const noexcept { return has_extras_ ? suppressed_so_far() : 0; }
    // `other` travels with `thrown`, which is about to be thrown into the body: a handler that catches `thrown` has handled
    // both.
    void carry(const std::exception_ptr& thrown, std::exception_ptr other) noexcept;
    void carry(const std::exception_ptr& thrown, const failure_list& others) noexcept;
    [[nodiscard]] failure_list take_carried(const std::exception_ptr& thrown) noexcept;
    [[nodiscard]] failure_list carried(const std::exception_ptr& thrown) const noexcept;
    // Called when `thrown` becomes a value: takes the failures that travel with it, and the suppressed ones after the first
    // n.
    [[nodiscard]] failure_list take_beside(const std::exception_ptr& thrown, std::size_t n) noexcept;
    [[nodiscard]] const std::vector<std::string>& notes() const noexcept;
    void add_note(std::string text) noexcept;

    static void run_job(work& self) noexcept;
    static void run_always(work& self) noexcept;
    static bool drained(node& self) noexcept;
    static void level_raised(node& self, level now) noexcept;
    static void describe_job(const node& self, node_description& d) noexcept;
    // Called when the first frame has ended and is destroyed.
    next_step body_done(ending how, reason& why) noexcept;

protected:
    ~job_core() {
        if (has_extras_) [[unlikely]] {
            drop_extras();
        }
    }

private:
    static void run_unwind(work& self) noexcept;
    static void run_after_others(work& self) noexcept;
    [[nodiscard]] bool begins_for_joiner(runner& here) const noexcept;
    [[nodiscard]] bool leave_to_own_loop(runner& here, next_step step) noexcept;
    [[gnu::noinline]] void run_inside_another(runner& here, next_step step) noexcept;

    void notify_begun() noexcept;
    friend class joiner;
    void drop_extras() noexcept;
    [[gnu::noinline, gnu::cold]] void settle_carried() noexcept;
    [[nodiscard]] std::size_t suppressed_so_far() const noexcept;
    void report_further(const failure_list& failures) const noexcept;
    [[gnu::noinline, gnu::cold]] void start_unusual(promise_base& frame, start_mode mode) noexcept;
    // Reports the creation, and the request to cancel of a job that is born cancelled.
    [[gnu::noinline, gnu::cold]] void notify_created(job_state state) noexcept;
    // Reports a state before `cancelling`; if the job is being cancelled, reports that.
    [[gnu::noinline, gnu::cold]] void notify_state(job_state state) noexcept;
    // Reports the request to cancel, once. The caller holds a unit of work.
    [[gnu::noinline, gnu::cold]] void notify_cancel() noexcept;
    [[gnu::noinline, gnu::cold]] void notify_cancel_from_outside() noexcept;
    void finish_notifying() noexcept;
    [[gnu::noinline, gnu::cold]] static void run_cancelled(job_core& job) noexcept;
    [[gnu::noinline]] void end_noticed() noexcept;
    [[nodiscard]] bool ends_unnoticed() const noexcept;
    [[nodiscard]] bool end_for_joiner() noexcept;
    void wake_joiners(job_state last) noexcept;
    // Returns true if counters or observers are on, or were when the job was created. One load if they are off.
    [[nodiscard]] bool is_watched() const noexcept { return ((watched_ | watching::now()) & watching::reported) != 0; }
    [[nodiscard]] bool reports_its_birth() const noexcept { return (watched_ & watching::reported) != 0; }
    [[gnu::noinline]] void end_measuring(runner& here) noexcept;
    void happened(job_event_kind what, job_state state, std::uint32_t times = 1) noexcept {
        if (is_watched()) [[unlikely]] {
            notify(what, state, times);
        }
    }
    [[gnu::noinline, gnu::cold]] void notify(job_event_kind what, job_state state, std::uint32_t times) noexcept;

    std::uint8_t watched_;  // whether its creation was counted, so that its end is; constant after the constructor
    event_sequence events_;
    bool has_extras_ = false;
    const std::uint32_t born_;
};

#if defined(ROOST_SEAM_NATIVE)
// The outcome is not bookkeeping.
static_assert(sizeof(job_core) <= 128, "a job's bookkeeping beyond its frame has to fit in 128 bytes");
#endif

// A waiter for a job's end queues in the job's own list, so that a job needs no storage for joiners that it may never have.
class joiner : public member {
public:
    explicit(false) joiner(job_core* target) noexcept : member(member_kind::joiner), target_(target) {}
    joiner(const joiner& other) noexcept : joiner(other.target_) {}  // requires that `other` is not queued

    // For wait_operation, which takes pointers and classes that act like them.
    [[nodiscard]] joiner* operator->() noexcept { return this; }
    [[nodiscard]] const joiner* operator->() const noexcept { return this; }
    [[nodiscard]] bool try_pass() const noexcept { return target_->is_final(); }
    [[nodiscard]] bool enqueue(waiter& w) noexcept;
    [[nodiscard]] bool cancel(waiter& w, claim as) noexcept;
    void pass_on(waiter&) noexcept {}
    [[nodiscard]] wait_target describe() const noexcept { return {"job", target_->name()}; }

private:
    friend class job_core;
    job_core* target_;
    waiter* queued_ = nullptr;  // under the lock of target_
};

using join_operation = wait_operation<joiner>;

// The block of a job with a result.
template <class T>
class job_block final : public job_core, public result_link<T> {
public:
    job_block(scope_core& parent, node_name name, site made_at)
        : job_core(functions, parent, name, made_at), result_link<T>(&root_ops) {
        ROOST_ASSERT(&this->outcome_link() == static_cast<settled_link*>(this),
                     "the outcome of a job is not at the offset that readers assume");
    }

    static void* operator new(std::size_t size) {
        if constexpr (alignof(job_block) > alignof(std::max_align_t)) {
            return allocate(size, alignof(job_block));
        }
        return allocate_frame(size);
    }
    static void operator delete(void* memory, std::size_t size) noexcept {
        if constexpr (alignof(job_block) > alignof(std::max_align_t)) {
            return deallocate(memory, size, alignof(job_block));
        }
        deallocate_frame(memory, size);
    }

private:
    static void destroy(node& self) noexcept {
        delete &static_cast<job_block&>(static_cast<job_core&>(static_cast<region&>(self)));
    }
    static next_step root_done(await_link& link, ending how, reason& why) noexcept {
        return static_cast<job_block&>(static_cast<result_link<T>&>(link)).body_done(how, why);
    }

    static constexpr std::size_t link_alignment = alignof(result_link<T>);
    static constexpr link_ops root_ops{root_done};
    static constexpr job_functions functions{{.kind = "job",
                                              .destroy = destroy,
                                              .level_raised = job_core::level_raised,
                                              .drained = job_core::drained,
                                              .describe = job_core::describe_job,
                                              .clock = region::clock,
                                              .own = own_work::body},
                                             (sizeof(job_core) + link_alignment - 1) / link_alignment* link_alignment};
};

// Returns the job that the frame runs in.
[[nodiscard]] inline job_core& job_of(const promise_base& frame) noexcept { return frame.region().owner(); }

}  // namespace roost::inline ROOST_ABI::detail
