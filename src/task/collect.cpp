#include <roost/task/collect.hpp>

namespace roost::inline ROOST_ABI::detail {

const scope_policy collect_policy(
    +[](scope_core& scope, job_core& child) noexcept {
        if (child.outcome_link().state() == ending::threw) {
            scope.keep(child.outcome_link().error());
        }
        scope.keep_all(child.suppressed());
    },
    scope_policy::wants::failures);

}  // namespace roost::inline ROOST_ABI::detail
