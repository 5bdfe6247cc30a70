#pragma once

// Runs a task on an executor and blocks the calling thread until the task and everything it started has ended. For main() and
// for threads outside the executor. Throws error(would_deadlock) in a job or on a thread of the executor: it would block the
// thread that has to do the work.

#include <roost/exec/detail/limited_thread.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/checkpoint.hpp>
#include <roost/task/owned_scope.hpp>

namespace roost::inline ROOST_ABI {

namespace detail {

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
            return start_job<T>(*root, name, t.release_frame(), start::scheduled, from);
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

}  // namespace detail

template <class T>
[[nodiscard]] outcome<T> block_on_outcome(executor_ref where, task<T> t, node_name name = "main",
                                          std::source_location from = std::source_location::current()) {
    const auto block = detail::run_to_end<T>(where, std::move(t), name, from);
    return detail::outcome_of_root<T>(*block);
}

// Returns the value, or throws the error with its own type. If the task ended cancelled, throws task_cancelled.
// Further failures go to the failure sink.
template <class T>
T block_on(executor_ref where, task<T> t, node_name name = "main",
           std::source_location from = std::source_location::current()) {
    const auto block = detail::run_to_end<T>(where, std::move(t), name, from);
    return detail::value_of_root<T>(*block);
}

// As above, for anything else that a task can await.
template <class A>
    requires detail::waitable<A>
decltype(auto) block_on(executor_ref where, A&& a, node_name name = "main",
                        std::source_location from = std::source_location::current()) {
    return block_on(where, roost::as_task(std::forward<A>(a)), name, from);
}
template <class A>
    requires detail::waitable<A>
[[nodiscard]] auto block_on_outcome(executor_ref where, A&& a, node_name name = "main",
                                    std::source_location from = std::source_location::current()) {
    return block_on_outcome(where, roost::as_task(std::forward<A>(a)), name, from);
}

}  // namespace roost::inline ROOST_ABI
