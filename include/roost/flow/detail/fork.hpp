#pragma once

// Children that one body starts and waits for together: the base of when_all and race. docs/design/spawning.md gives the
// reasons.
//
// The awaiting body holds the group. It runs the first child itself, in a job of the group's scope, without a queue. The
// children that have not begun are one work item, the ticket, which it has posted before. When the child has returned and the
// ticket is the next item this thread would run, the body takes it back. The next child then runs in the same job, if that is
// unobserved: no code holds a reference to it. Any other thread that gets the ticket (or this one, because the child is
// suspended) passes it on and runs one child as a job of its own. So a child that begins is a job like any other, and the
// group ends with its scope.
//
//   ticket   rest_ and the scope's own unit belong to the thread that holds it; in a queue to none
//   job      J, the first one of the scope: the awaiting body's, until a child suspends, fails, is cancelled or is observed in it
//
//   --start--> J runs, ticket posted --child returned, ticket taken back--> J runs the next --none left--> resume
//                                    --ticket gone, or J observed--> J ends --scope drained--> posted, resume
//
// I1       exactly one of: posted, held, finished; the thread that finds nothing left to start finishes it: closes the scope
// I2       the group is alive as long as its scope has a unit
// I3       scope and job of a group that ended unobserved are kept by the job above (spare) for its next group; only
//          the body of that job touches them
//
// id  operation            order    pairs  carries                                                      fails in
// F1  end: load of work    acquire  W2     what children that ran elsewhere wrote: their results        fork_model: stolen_and_done
// F4  job: load of work    acquire  N6     what its holders did to it: its level                        fork_model: cancelled_and_let_go
// F2  idle: load, store    relaxed  -      nothing: a report may show or leave out what comes and goes  (floor)
// F3  look at the level    relaxed  -      only whether it is reusable; a later raise reaches it        (floor)
// (the ticket's fields are handed over by the executor's queue)

#include <roost/task/detail/job/scope_core.hpp>

namespace roost::inline ROOST_ABI::detail {

class fork;
class fork_scope;

// A job in which one child after the other may run.
class fork_job final : public job_core, private result_link<void> {
public:
    // Makes one in the scope, with its unit and no handle. Throws std::bad_alloc.
    [[nodiscard]] static fork_job& make(fork_scope& in, node_name name);
    // Returns null if the region is no fork_job.
    [[nodiscard]] static fork_job* of(region& r) noexcept {
        return &r.functions() == &functions ? &static_cast<fork_job&>(r) : nullptr;
    }
    [[nodiscard]] fork_scope& scope() const noexcept;
    // Called when the child has ended: ends this job with it.
    void end(ending how, const settled_link& child, reason& why) noexcept;
    void end_idle() noexcept;
    // Returns true if it is unobserved and reusable: not referenced, cancelled or counted, and nothing is below it but the
    // spare.
    [[nodiscard]] bool is_unobserved() const noexcept;

    // Returns true if its scope has had it from the beginning.
    [[nodiscard]] bool is_first() const noexcept { return is_first_; }
    void set_first() noexcept { is_first_ = true; }
    [[nodiscard]] fork_scope* take_spare() noexcept { return std::exchange(spare_, nullptr); }
    [[nodiscard]] fork_scope* spare() const noexcept { return spare_; }
    void keep_spare(fork_scope& s) noexcept {
        ROOST_ASSERT(spare_ == nullptr, "I3: opening a group takes the spare, and a body has one group at a time");
        spare_ = &s;
    }

    static void* operator new(std::size_t size) { return allocate_frame(size); }
    static void operator delete(void* memory, std::size_t size) noexcept { deallocate_frame(memory, size); }

private:
    fork_job(fork_scope& in, node_name name);
    static void destroy(node& self) noexcept;
    static void describe(const node& self, node_description& d) noexcept;
    static next_step never_done(await_link& link, ending how, reason& why) noexcept;

    static const link_ops root_ops;
    static const job_functions functions;
    fork_scope* spare_ = nullptr;
    bool is_first_ = false;
};

class fork_scope final : public scope_core {
public:
    // Makes a scope with its first job. The caller holds a reference and the one unit. Throws std::bad_alloc.
    [[nodiscard]] static fork_scope& open(region& parent, node_name name, node_name child, site made_at,
                                          const scope_policy& policy);
    void serve(fork& group) noexcept { group_ = &group; }
    [[nodiscard]] fork_job& first_job() const noexcept { return *job_; }
    // Returns true if it is reusable: nothing runs in it, it is unobserved, and what its children wrote is visible.
    [[nodiscard]] bool is_unobserved() const noexcept;
    // Requires is_unobserved(). Keeps the scope for the next group, or ends it. Takes the reference and the unit.
    void put_away() noexcept;
    [[nodiscard]] bool is_idle() const noexcept { return idle_.load(mo::relaxed); }  // F2

    static void* operator new(std::size_t size) { return allocate_frame(size); }
    static void operator delete(void* memory, std::size_t size) noexcept { deallocate_frame(memory, size); }
    // Ends an idle scope, and those that its job keeps, innermost first.
    static void end_idle(fork_scope& top) noexcept;

private:
    fork_scope(region& parent, node_name name, site made_at, const scope_policy& policy)
        : scope_core(functions, parent, name, made_at, policy) {}
    [[nodiscard]] static fork_scope* reuse(region& parent, node_name name, site made_at) noexcept;
    [[nodiscard]] static fork_scope& make(region& parent, node_name name, node_name child, site made_at,
                                          const scope_policy& policy);
    [[nodiscard]] bool fits(node_name name, site made_at) const noexcept;
    static void destroy(node& self) noexcept { delete &static_cast<fork_scope&>(static_cast<region&>(self)); }
    static bool drained(node& self) noexcept;
    static void describe(const node& self, node_description& d) noexcept;

    static const node_functions functions;
    static constexpr std::uint16_t most_kept = 64;  // nested in each other
    fork* group_ = nullptr;
    fork_job* job_ = nullptr;
    std::uint32_t born_ = 0;
    std::uint16_t kept_ = 1;  // this one and those that its job keeps
    atomic<bool> idle_{false};
};

// A child: its frame until it begins, then its result.
class fork_slot {
public:
    fork_slot(settled_link& link, std::uint32_t index) noexcept : link_(&link), index_(index) {}
    fork_slot(const fork_slot&) = delete;
    fork_slot& operator=(const fork_slot&) = delete;
    [[nodiscard]] settled_link& link() const noexcept { return *link_; }
    [[nodiscard]] std::uint32_t index() const noexcept { return index_; }

protected:
    [[nodiscard]] fork& group() const noexcept { return *group_; }
    ~fork_slot() = default;

private:
    friend class fork;
    settled_link* link_;
    fork* group_ = nullptr;
    fork_slot* next_ = nullptr;
    std::uint32_t index_;
    bool is_from_above_ = false;  // it was cancelled because the whole group was
};

// A slot that also holds the further failures of its child.
class outcome_slot : public fork_slot {
public:
    using fork_slot::fork_slot;
    failure_list others;
};

// The differences between the kinds of groups.
struct fork_rules {
    const scope_policy& policy;
    node_name child;
    // True: a failure fails the group, and a child that ends cancelled cancels the others. False: failures are part of the
    // result, and the slots are told_slots.
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
    fork_slot* rest_ = nullptr;  // not begun; owned with the ticket
    fork_scope* scope_ = nullptr;
    job_core* entered_ = nullptr;  // whose loop the first child began in
    std::exception_ptr failure_;
    bool posted_ = false;  // the ticket, as far as J knows
};

inline fork_scope& fork_job::scope() const noexcept { return static_cast<fork_scope&>(parent_scope()); }

}  // namespace roost::inline ROOST_ABI::detail
