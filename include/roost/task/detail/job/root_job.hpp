#pragma once

// A job without a parent, which a thread outside of jobs starts and waits for.

#include <roost/exec/detail/limited_thread.hpp>
#include <roost/task/detail/job/job_core.hpp>
#include <roost/task/detail/job/outcome_from.hpp>
#include <roost/task/detail/job/root_block.hpp>
#include <roost/task/task.hpp>

#include <utility>

namespace roost::inline ROOST_ABI::detail {

void refuse_to_block(executor_ref where, site from);
[[noreturn]] void throw_cancelled(const reason& why);
// Sends the further failures of a job without a parent to the failure sink.
void report_further_failures(job_core& job) noexcept;

// Returns how a job without a parent ended. Requires that everything it started has ended. An error carries the further
// failures; beside a value or a cancellation they go to the failure sink.
template <class T>
[[nodiscard]] outcome<T> outcome_of_root(job_block<T>& block) {
    if (block.result_link<T>::state() != ending::threw) {
        report_further_failures(block);
    }
    return outcome_from<T>(block, block.suppressed());
}

// As above, for callers that get only the value or the error: all further failures go to the failure sink.
template <class T>
T value_of_root(job_block<T>& block) {
    report_further_failures(block);
    if (block.result_link<T>::state() == ending::cancelled) {
        throw_cancelled(block.result_link<T>::why());
    }
    return block.take();
}

// Calls made(root) before the task begins.
template <class T, class Made>
[[nodiscard]] node_ref<job_block<T>> run_to_end(executor_ref where, task<T> t, node_name name, site from, Made made) {
    refuse_to_block(where, from);
    auto* root = new root_block(where, "root", from, silent_policy);
    const auto keep = node_ref<root_block>::adopt(root);
    made(*root);
    auto block = [&] {
        try {
            return start_job<T>(*root, name, task_access::release_frame(t), start_mode::scheduled, from);
        } catch (...) {
            root->close();
            throw;
        }
    }();
    root->close();
    wait_for_task(root->ended);
    return block;
}
template <class T>
[[nodiscard]] node_ref<job_block<T>> run_to_end(executor_ref where, task<T> t, node_name name, site from) {
    return run_to_end<T>(where, std::move(t), name, from, [](root_block&) noexcept {});
}

}  // namespace roost::inline ROOST_ABI::detail
