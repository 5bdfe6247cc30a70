#include <roost/task/detail/job/policy_scope.hpp>

#include <roost/base/assert.hpp>
#include <roost/base/error.hpp>
#include <roost/base/failure_sink.hpp>
#include <roost/task/launch_started.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>

namespace roost::inline ROOST_ABI::detail {

const scope_policy need_all_policy(+[](scope_core& scope, job_core& child) noexcept {
    fail_fast_policy.child_ended(scope, child);
    if (child.outcome_link().state() == ending::cancelled) {
        scope.node::cancel(child.outcome_link().why());
    }
});

const scope_policy outcome_policy(
    +[](scope_core& scope, job_core& child) noexcept {
        scope.fail_all(child.suppressed());
        // A failure of the child itself, not of its task: no memory.
        if (child.outcome_link().state() == ending::threw) {
            scope.fail(child.outcome_link().error());
        }
    },
    scope_policy::wants::failures);

task<> pause_before_retry(duration d) {
    if (d > duration::zero()) {
        co_await sleep_for(d);
    } else {
        co_await yield();
    }
}

void throw_not_started(std::string_view name, site where) {
    throw error(errc::promise_dropped, "job '" + std::string(name) + "' (" + where.to_string() +
                                           ") ended before it was ready: it never called started()");
}

void throw_start_refused(std::string_view name, site where) {
    throw error(errc::refused,
                "job '" + std::string(name) + "' (" + where.to_string() + ") was not started: its scope is closed");
}

void report_not_started(std::string_view name, site where, const std::exception_ptr& error,
                        const std::vector<std::exception_ptr>& others) noexcept {
    report_failure("job", name, where, error);
    for (const std::exception_ptr& other : others) {
        report_failure("job", name, where, other);
    }
}

void refuse_second_start() noexcept { panic("started", {}, site(), "it was called a second time: a child is ready once"); }

}  // namespace roost::inline ROOST_ABI::detail
