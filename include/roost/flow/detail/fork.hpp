#pragma once

// Children that one body starts and waits for together: what when_all and race stand on. docs/design/spawning.md says why.
//
// The awaiting body holds the group. It runs the first child itself, in a job of the group's scope, without a queue; what has
// not begun is one work item, the ticket, which it has posted before. When the child has returned and the ticket would be the
// next thing this thread runs, the body takes it back and the next child runs in the same job, as if in a new one: nobody has
// seen the first. Whoever else gets the ticket (another worker, or this one because the child is suspended) passes it on and
// runs one child as a job of its own. So a child that begins is a job like any other, and the group ends with its scope.
//
//   ticket   rest_ and the scope's own unit belong to whoever holds it; in a queue nobody does
//   job      J, the first one of the scope: the awaiting body's, until a child suspends, fails, is cancelled or is seen in it
//
//   --start--> J runs, ticket posted --child returned, ticket taken back--> J runs the next --none left--> resume
//                                    --ticket gone, or J was seen--> J ends --scope drained--> posted, resume
//
// I1       exactly one of: posted, held, finished; whoever finds nothing left to start finishes it: closes the scope
// I2       the group is alive as long as its scope has a unit
// I3       scope and job of a group that ended without being seen are kept by the job above (spare) for its next group; only
//          the body of that job touches them
//
// id  operation            order    pairs  carries                                                      fails in
// F1  end: load of work    acquire  W2     what children that ran elsewhere wrote: their results        fork_model: stolen_and_done
// F4  job: load of work    acquire  N6     what whoever held it did to it: its level                    fork_model: cancelled_and_let_go
// F2  idle: load, store    relaxed  -      nothing: a report may show or leave out what comes and goes  (floor)
// F3  look at the level    relaxed  -      only whether it is as new; who raises it later reaches it    (floor)
// (the ticket's fields are handed over by the executor's queue)

#include <roost/task/detail/scope_core.hpp>

namespace roost::inline ROOST_ABI::detail {

class fork;
class fork_scope;

// A job in which one child after the other may run.
class fork_job final : public job_core, private result_link<void> {
public:
    // In the scope, with its unit, and held by nobody. Throws std::bad_alloc.
    [[nodiscard]] static fork_job& make(fork_scope& in, node_name name);
    // Null when the region is none of these.
    [[nodiscard]] static fork_job* of(region& r) noexcept {
        return &r.functions() == &functions ? &static_cast<fork_job&>(r) : nullptr;
    }
    [[nodiscard]] fork_scope& scope() const noexcept;
    // The child has ended, and this with it.
    void end(ending how, const settled_link& child, reason& why) noexcept;
    void end_idle() noexcept;
    // Nobody has seen, cancelled or counted it, and nothing is below it but the spare.
    [[nodiscard]] bool is_as_new() const noexcept;

    // The one that its scope has from the beginning.
    [[nodiscard]] bool is_first() const noexcept { return is_first_; }
    void set_first() noexcept { is_first_ = true; }
    [[nodiscard]] fork_scope* take_spare() noexcept { return std::exchange(spare_, nullptr); }
    [[nodiscard]] fork_scope* spare() const noexcept { return spare_; }
    void keep_spare(fork_scope& s) noexcept {
        ROOST_ASSERT(spare_ == nullptr, "I3: whoever opens a group takes the spare, and a body has one group at a time");
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
    // With its first job. The caller holds a reference and the one unit. Throws std::bad_alloc.
    [[nodiscard]] static fork_scope& open(region& parent, node_name name, node_name child, site made_at,
                                          const scope_policy& policy);
    void serve(fork& group) noexcept { group_ = &group; }
    [[nodiscard]] fork_job& first_job() const noexcept { return *job_; }
    // Nothing runs in it, nothing has happened to it, and what its children wrote is visible.
    [[nodiscard]] bool is_as_new() const noexcept;
    // Then: kept for the next group, or ended. The reference and the unit go.
    void put_away() noexcept;
    [[nodiscard]] bool is_idle() const noexcept { return idle_.load(mo::relaxed); }  // F2

    static void* operator new(std::size_t size) { return allocate_frame(size); }
    static void operator delete(void* memory, std::size_t size) noexcept { deallocate_frame(memory, size); }
    // Ends an idle one, and those that its job keeps, innermost first.
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
    static constexpr std::uint16_t most_kept = 64;  // below each other
    fork* group_ = nullptr;
    fork_job* job_ = nullptr;
    std::uint32_t born_ = 0;
    std::uint16_t kept_ = 1;  // with those that its job keeps
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
    bool is_from_above_ = false;  // it was cancelled, as the whole group and for that reason
};

// With what else it failed.
class told_slot : public fork_slot {
public:
    using fork_slot::fork_slot;
    failure_list others;
};

// What kinds of groups differ in.
struct fork_rules {
    const scope_policy& policy;
    node_name child;
    // A failure is the group's, and a child that ends cancelled takes the others with it. Else failures are part of the
    // result, and the slots are told_slots.
    bool needs_all;
    // A child has ended, or could not begin for want of memory (then `ran` is null). True: the others are not needed.
    bool (*ended)(fork&, fork_slot&, ending, job_core* ran) noexcept;
    // Everybody has ended and nothing failed: what the awaiting body does.
    next_step (*finish)(fork&) noexcept;
};

class fork_ticket : public work {
protected:
    explicit fork_ticket(run_function go) noexcept : work(go) {}
    ~fork_ticket() = default;
};

class fork : private fork_ticket, private continuation {
public:
    fork(promise_base& me, const fork_rules& rules) noexcept
        : fork_ticket(run_ticket), continuation(go_on), me_(&me), rules_(&rules) {}

    // From await_suspend: the frame to go on with, or null.
    [[nodiscard]] promise_base* start(node_name name, site where);
    // In a job of the group, on its executor.
    next_step child_done(fork_slot& slot, ending how, reason& why) noexcept;

    [[nodiscard]] continuation& when_drained() noexcept { return *this; }

    // For the rules.
    [[nodiscard]] promise_base& waiter() const noexcept { return *me_; }
    [[nodiscard]] fork_slot* first() const noexcept { return first_; }
    [[nodiscard]] static fork_slot* after(const fork_slot& s) noexcept { return s.next_; }
    // The awaiting body ends cancelled: because it was, or for the reason of the first child that is.
    [[nodiscard]] next_step end_cancelled() noexcept;
    // There will be no result to find them in: to the failure sink.
    void report_slots(std::string_view what) const noexcept;

protected:
    ~fork();
    // In the order in which they begin.
    void add(fork_slot& slot) noexcept {
        slot.group_ = this;
        *(last_ == nullptr ? &rest_ : &last_->next_) = &slot;
        last_ = &slot;
        first_ = first_ == nullptr ? &slot : first_;
    }
    // Before the slots go. Those that have not begun are destroyed, in order.
    void drop_rest() noexcept;
    void rethrow_failure() const {
        if (failure_) [[unlikely]] {
            std::rethrow_exception(failure_);
        }
    }

private:
    static void run_ticket(work& self) noexcept;
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
    fork_slot* rest_ = nullptr;  // not begun; with the ticket
    fork_scope* scope_ = nullptr;
    body* entered_ = nullptr;  // whose loop the first child began in
    std::exception_ptr failure_;
    bool posted_ = false;  // the ticket, as far as J knows
};

inline fork_scope& fork_job::scope() const noexcept { return static_cast<fork_scope&>(parent_scope()); }

}  // namespace roost::inline ROOST_ABI::detail
