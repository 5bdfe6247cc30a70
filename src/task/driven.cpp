#include <roost/task/driven.hpp>

namespace roost::inline ROOST_ABI::detail {

void require_executor(executor_ref where, site from) noexcept {
    if (!where) {
        panic("task", "driven", from,
              "has nowhere to run: awaitable_on() and a pool with a task need an executor (options.where)");
    }
}

}  // namespace roost::inline ROOST_ABI::detail
