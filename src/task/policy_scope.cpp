#include <roost/task/detail/policy_scope.hpp>

#include <roost/task/checkpoint.hpp>
#include <roost/task/sleep.hpp>

namespace roost::inline ROOST_ABI::detail {

const scope_policy need_all_policy(+[](scope_core& scope, job_core& child) noexcept {
    fail_fast_policy.child_ended(scope, child);
    if (child.outcome_link().state() == ending::cancelled) {
        scope.node::cancel(child.outcome_link().why());
    }
});

const scope_policy told_policy(
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

}  // namespace roost::inline ROOST_ABI::detail
