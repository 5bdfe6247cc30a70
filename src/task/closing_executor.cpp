#include <roost/task/closing_executor.hpp>

#include <roost/task/detail/policy_scope.hpp>

namespace roost::inline ROOST_ABI {

task<> closing_executor::close() {
    scope_.cancel(reason::plain_kind(reason_kind::closed));
    co_await scope_.close();
}

void closing_executor::close_blocking() {
    scope_.cancel(reason::plain_kind(reason_kind::closed));
    scope_.close_blocking();
}

task<> detail::end_closed() { co_await end_cancelled(reason::plain_kind(reason_kind::closed)); }

}  // namespace roost::inline ROOST_ABI
