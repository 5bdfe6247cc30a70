#pragma once

// The node that children are started in. A scope's policy is called with every child that ended, before its end is visible to
// other code.

#include <roost/task/detail/job/job_core.hpp>
#include <roost/task/scope_options.hpp>

namespace roost::inline ROOST_ABI::detail {

// How a scope treats its children. Called on the thread that ended the child, outside every lock: record, raise, post.
class scope_policy {
public:
    using ended_function = void (*)(scope_core&, job_core& child) noexcept;
    enum class wants : unsigned char { every_end, failures };

    constexpr explicit scope_policy(ended_function function, wants what = wants::every_end) noexcept
        : child_ended_(function), wants_(what) {}
    void child_ended(scope_core& scope, job_core& child) const noexcept { child_ended_(scope, child); }
    // Returns true if the policy is not called for a child that returned or was cancelled without a failure beside it.
    [[nodiscard]] bool only_failures() const noexcept { return wants_ == wants::failures; }

private:
    ended_function child_ended_;
    wants wants_;
};

// The first failure cancels the scope.
extern const scope_policy fail_fast_policy;
// Every failure is kept for the scope's end, and cancels nothing.
extern const scope_policy keep_going_policy;
// Failures go to the failure sink.
extern const scope_policy root_policy;
// The code that made the scope reads every outcome itself.
extern const scope_policy silent_policy;
[[nodiscard]] inline const scope_policy& policy_of(scope_options::on_child_failure what) noexcept {
    switch (what) {
        case scope_options::on_child_failure::keep_going: return keep_going_policy;
        case scope_options::on_child_failure::report: return root_policy;
        case scope_options::on_child_failure::cancel_others: break;
    }
    return fail_fast_policy;
}

class scope_core : public guest_region {
public:
    // Inside a body, which runs in it. Children run on `where`, or on the body's executor.
    scope_core(const node_functions& functions, region& parent, node_name name, site made_at, const scope_policy& policy,
               executor_ref where = {});
    // A root; no body runs in it.
    scope_core(const node_functions& functions, executor_ref where, node_name name, site made_at,
               const scope_policy& policy);
    // Below a node that is no body of this layer (a shutdown node, an object's scope).
    scope_core(const node_functions& functions, node& parent, executor_ref where, node_name name, site made_at,
               const scope_policy& policy);

    [[nodiscard]] executor_ref executor() const noexcept { return where_; }
    [[nodiscard]] const scope_policy& policy() const noexcept { return *policy_; }

    // Returns true if the body that runs on this thread is a member: that of a job below. Its unit keeps the scope from
    // closing for good meanwhile.
    [[nodiscard]] bool has_caller_inside() const noexcept;
    // Called before a wait for the scope's end. Throws error(would_deadlock) if the caller runs inside the scope.
    void refuse_wait_from_inside() const;
    // Adds a unit for the caller. Returns false if the scope is closed, or if it is closing and the caller is no member.
    [[nodiscard]] bool enter_as(admission as) noexcept;

    // Records a failure: the first one is rethrown, the others are kept in order. Returns true if this is the first.
    bool keep(const std::exception_ptr& error) noexcept;
    // As keep(); the first failure also cancels the scope.
    void fail(const std::exception_ptr& error) noexcept;
    // Records the failure of the scope's body and its further failures, as the policy treats failures.
    void body_failed(const std::exception_ptr& error, const failure_list& others) noexcept;
    // Records the failures beside the outcome of a child. If there is no earlier failure, the first of them becomes the
    // first.
    void keep_all(const failure_list& others) noexcept;
    void fail_all(const failure_list& others) noexcept;
    [[nodiscard]] std::exception_ptr first_failure() const noexcept;
    // For the thread that ends the scope, when no other thread uses it.
    [[nodiscard]] bool has_failed() const noexcept { return static_cast<bool>(first_); }
    [[nodiscard]] failure_list take_other_failures() noexcept;
    // Sends the further failures to the failure sink.
    void report_other_failures() noexcept;

    // --- daemons (daemon_scope.hpp) -----------------------------------------------------------------------------------
    // Returns where daemons run, made at the first call; empty if the scope admits no child of this caller any more.
    [[nodiscard]] node_ref<scope_core> daemons_for(admission as);
    // As has_failed(): for the thread that ends the scope.
    [[nodiscard]] bool has_daemons() const noexcept { return daemons_ != nullptr; }
    // Passes a level that was raised here on to the daemons: cancel or abort.
    void raise_daemons(level to) noexcept;
    // Returns where daemons run now, or null.
    [[nodiscard]] node_ref<scope_core> daemons() const noexcept;
    // Called first by drained(). Returns true if daemons still have to end: they are cancelled, and drained() is called
    // again when they have ended.
    [[nodiscard]] bool hold_for_daemons() noexcept;

    // Called when a child ends cancelled. Recorded only if the scope is cancelled too: the value of its body is then not the
    // result of all its work.
    void note_cancelled_child() noexcept;
    // As has_failed().
    [[nodiscard]] bool has_lost_child() const noexcept { return lost_child_; }
    // As has_failed(). Returns true if no cancel cut any child short. Children that handle the cancel of their own work
    // (supervision, groups) do not note it, so their scopes return false.
    [[nodiscard]] bool is_whole() const noexcept {
        return (policy_ == &fail_fast_policy || policy_ == &keep_going_policy) && !lost_child_;
    }

private:
    void report_further(const failure_list& failures) const noexcept;
    [[nodiscard]] bool admits(admission as) const noexcept;

    executor_ref where_;
    const scope_policy* policy_;
    scope_core* daemons_ = nullptr;
    mutable small_mutex rare_lock_;  // of everything below, and of daemons_
    bool lost_child_ = false;
    bool has_ended_daemons_ = false;
    std::exception_ptr first_;
    failure_list others_;
};

inline job_core::job_core(const job_functions& functions, scope_core& parent, node_name name, site made_at)
    : region(functions, parent, name, made_at, node_shape{.mark = true}),
      work(nullptr),
      watched_(watching::now()),
      events_((watched_ & watching::reported) != 0),
      born_(recent_time::stamp()) {
    if ((watched_ & watching::measured) != 0) [[unlikely]] {
        if (job_meter::created(runner::of_this_thread().measured, this)) {
            watched_ |= watching::timed;
        }
    }
}
inline scope_core& job_core::parent_scope() const noexcept {
    return static_cast<scope_core&>(static_cast<region&>(*parent()));
}
inline executor_ref job_core::executor() const noexcept { return parent_scope().executor(); }

[[gnu::cold]] void discard_refused(job_core& block, promise_base& frame) noexcept;

// For a child whose caller was refused as an outsider. Returns true if the caller is a member and the child is attached now.
[[nodiscard, gnu::cold]] bool attach_from_inside(job_core& child) noexcept;
// Returns false if the scope refuses children of this caller.
[[nodiscard]] inline bool attach_child(job_core& child, admission as) noexcept {
    return child.attach(child_kind::working, as) != attached::refused || attach_from_inside(child);
}

// Makes a child and starts it. Returns an empty reference if the scope refused it; the task has been destroyed then.
template <class T>
[[nodiscard]] node_ref<job_block<T>> start_job(scope_core& scope, node_name name, promise_base& frame, start_mode mode,
                                               site made_at, admission as = admission::member) {
    job_block<T>* block = nullptr;
    try {
        block = new job_block<T>(scope, name, made_at);
    } catch (...) {
        drop_unstarted(frame);
        throw;
    }
    if (!attach_child(*block, as)) [[unlikely]] {
        discard_refused(*block, frame);
        return {};
    }
    frame.attach(*block, *block);
    auto handle = node_ref<job_block<T>>::adopt(block);
    block->start(frame, mode);
    return handle;
}

// As start_job(), beside the children.
template <class T>
[[nodiscard]] node_ref<job_block<T>> start_daemon(scope_core& scope, node_name name, promise_base& frame, start_mode mode,
                                                  site made_at, admission as) {
    node_ref<scope_core> daemons;
    try {
        daemons = scope.daemons_for(as);
    } catch (...) {
        drop_unstarted(frame);
        throw;
    }
    if (!daemons) [[unlikely]] {
        drop_unstarted(frame);
        return {};
    }
    return start_job<T>(*daemons, name, frame, mode, made_at, as);
}

}  // namespace roost::inline ROOST_ABI::detail
