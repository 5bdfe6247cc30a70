#include <roost/task/block_on.hpp>

#include <roost/base/error.hpp>
#include <roost/task/failure_sink.hpp>

namespace roost::inline ROOST_ABI::detail {

void refuse_to_block(executor_ref where, site from) {
    const job running = current_job();
    if (!running && !where->is_here()) {
        return;
    }
    throw error(errc::would_deadlock, "block_on at " + from.to_string() + " was called " +
                                          (running ? "inside job '" + std::string(running.name()) + "'"
                                                   : "on a thread of executor '" + std::string(where->name()) + "'") +
                                          ": it would block the thread that has to run the task");
}

void report_further_failures(job_core& job) noexcept {
    job.suppressed().for_each(
        [&job](const std::exception_ptr& other) { report_failure("job", job.name(), job.made_at(), other); },
        job.own_error());
}

void throw_cancelled(const reason& why) { throw error(errc::closed, "the task ended cancelled: " + why.to_string()); }

}  // namespace roost::inline ROOST_ABI::detail
