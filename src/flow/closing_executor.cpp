#include <roost/flow/closing_executor.hpp>

#include <roost/base/error.hpp>
#include <roost/task/detail/job/policy_scope.hpp>
#include <roost/task/this_task.hpp>

namespace roost::inline ROOST_ABI {

// Inside are: a child of the executor, a task that on() sent here, and any job below one of those. close() waits for all of
// them.
void closing_executor::refuse_close_from_inside() const {
    detail::task_access::core_of(scope_).refuse_wait_from_inside();
    const job running = current_job();
    if (running && detail::value_region::find(*detail::task_access::core_of(running), this) != nullptr) {
        throw error(errc::would_deadlock, "job '" + std::string(running.name()) + "' waits for the end of executor '" +
                                              std::string(name()) + "', which waits for it; close it outside of its jobs");
    }
}

task<> closing_executor::close() {
    refuse_close_from_inside();
    scope_.cancel(reason::plain_kind(reason_kind::closed));
    co_await scope_.close();
}

void closing_executor::close_blocking() {
    scope_.cancel(reason::plain_kind(reason_kind::closed));
    scope_.close_blocking_on(target_);
}

task<> detail::end_closed() { co_await end_cancelled(reason::plain_kind(reason_kind::closed)); }

}  // namespace roost::inline ROOST_ABI
