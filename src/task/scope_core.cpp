#include <roost/task/detail/job/scope_core.hpp>

#include <roost/base/error.hpp>
#include <roost/base/failure_sink.hpp>
#include <roost/task/detail/job/daemon_scope.hpp>

#include <mutex>
#include <string>

namespace roost::inline ROOST_ABI::detail {

const scope_policy fail_fast_policy(
    +[](scope_core& scope, job_core& child) noexcept {
        if (child.outcome_link().state() == ending::threw) {
            scope.fail(child.outcome_link().error());
        }
        scope.fail_all(child.suppressed());
    },
    scope_policy::wants::failures);

const scope_policy root_policy(
    +[](scope_core&, job_core& child) noexcept {
        if (child.outcome_link().state() == ending::threw) {
            report_failure("job", child.name(), child.made_at(), child.outcome_link().error());
        }
        child.suppressed().for_each(
            [&child](const std::exception_ptr& other) { report_failure("job", child.name(), child.made_at(), other); },
            child.own_error());
    },
    scope_policy::wants::failures);

const scope_policy keep_going_policy(
    +[](scope_core& scope, job_core& child) noexcept {
        if (child.outcome_link().state() == ending::threw) {
            scope.keep(child.outcome_link().error());
        }
        scope.keep_all(child.suppressed());
    },
    scope_policy::wants::failures);

constinit const scope_policy silent_policy(+[](scope_core&, job_core&) noexcept {}, scope_policy::wants::failures);

scope_core::scope_core(const node_functions& functions, region& parent, node_name name, site made_at,
                       const scope_policy& policy, executor_ref where)
    : guest_region(functions, parent, name, made_at, {}, parent.owner()),
      where_(where ? where : parent.owner().executor()),
      policy_(&policy) {}

scope_core::scope_core(const node_functions& functions, executor_ref where, node_name name, site made_at,
                       const scope_policy& policy)
    : guest_region(functions, name, made_at), where_(where), policy_(&policy) {}

scope_core::scope_core(const node_functions& functions, node& parent, executor_ref where, node_name name, site made_at,
                       const scope_policy& policy)
    : guest_region(functions, parent, name, made_at), where_(where), policy_(&policy) {}

bool scope_core::has_caller_inside() const noexcept {
    const job_core* const running = is_closed() ? nullptr : job_core::current();
    const node* n = running;
    while (n != nullptr && n != this) {
        const daemon_scope* const daemons = daemon_scope::from(*n);
        n = daemons != nullptr && &daemons->of() == this ? this : n->parent();
    }
    return n != nullptr;
}

void scope_core::refuse_wait_from_inside() const {
    if (has_caller_inside()) {
        throw error(errc::would_deadlock, "job '" + std::string(job_core::current()->name()) + "' waits for the end of " +
                                              functions().kind + " '" + std::string(name()) +
                                              "', which waits for it; let the body return instead");
    }
}

bool scope_core::enter_as(admission as) noexcept {
    if (as == admission::outsider && try_enter()) {
        return true;
    }
    // A daemon holds no unit of the scope, so the scope may have closed since.
    return (as == admission::member || has_caller_inside()) && try_enter_as_member();
}

bool attach_from_inside(job_core& child) noexcept {
    return child.parent_scope().has_caller_inside() &&
           child.attach(child_kind::working, admission::member) != attached::refused;
}

void discard_refused(job_core& block, promise_base& frame) noexcept {
    block.discard();
    drop_unstarted(frame);
}

void scope_core::fail(const std::exception_ptr& error) noexcept {
    if (keep(error)) {
        cancel(reason::plain_kind(reason_kind::failure));
    }
}

void scope_core::body_failed(const std::exception_ptr& error, const failure_list& others) noexcept {
    if (policy_ == &keep_going_policy) {
        keep(error);
    } else {
        fail(error);
    }
    keep_all(others);
}

void scope_core::fail_all(const failure_list& others) noexcept {
    const bool had_failed = static_cast<bool>(first_failure());
    keep_all(others);
    if (!had_failed && !others.is_empty()) {
        cancel(reason::plain_kind(reason_kind::failure));
    }
}

bool scope_core::keep(const std::exception_ptr& error) noexcept {
    bool kept = true;
    {
        const std::lock_guard guard(rare_lock_);
        if (!first_) {
            first_ = error;
            return true;
        }
        if (error == first_) {
            return false;
        }
        try {
            others_.add(error);
        } catch (const std::bad_alloc&) {
            kept = false;
        }
    }
    if (!kept) {
        report_failure("another child of scope", name(), made_at(), error);
    }
    return false;
}

void scope_core::keep_all(const failure_list& others) noexcept {
    if (others.is_empty()) {
        return;
    }
    if (!first_failure()) {  // of a child that did not fail: few, of its cleanup
        others.for_each([this](const std::exception_ptr& other) { static_cast<void>(keep(other)); });
        return;
    }
    try {
        const std::lock_guard guard(rare_lock_);
        others_.add(others);
        return;
    } catch (const std::bad_alloc&) {}
    report_further(others);
}

void scope_core::report_further(const failure_list& failures) const noexcept {
    failures.for_each(
        [this](const std::exception_ptr& other) { report_failure("another child of scope", name(), made_at(), other); },
        first_failure());
}

std::exception_ptr scope_core::first_failure() const noexcept {
    const std::lock_guard guard(rare_lock_);
    return first_;
}

void scope_core::note_cancelled_child() noexcept {
    if (is_cancelled()) {
        const std::lock_guard guard(rare_lock_);
        lost_child_ = true;
    }
}

void scope_core::report_other_failures() noexcept { report_further(take_other_failures()); }

failure_list scope_core::take_other_failures() noexcept {
    const std::lock_guard guard(rare_lock_);
    return std::exchange(others_, {});
}

}  // namespace roost::inline ROOST_ABI::detail
