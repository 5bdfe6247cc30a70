#pragma once

// run(task), ended in an orderly way by Ctrl-C and SIGTERM.
//
//   int main() { return roost::run_until_signal(serve()); }
//
// The first SIGINT or SIGTERM cancels the task and everything it started, with the signal's name as the reason. Destructors
// and cleanup run. From then on both signals have their former effect: a second Ctrl-C kills a task that does not end.
// run_until_signal restores the former handlers before it returns. A SIGINT that the process ignores from the start (nohup,
// background jobs) stays ignored.
//
// For phases, budgets, reports and readiness use service::run; for other signals and other reactions, signal_watch.

#include <roost/runtime/detail/signal_canceller.hpp>
#include <roost/runtime/detail/signal_hub.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/detail/job/root_job.hpp>

#include <concepts>
#include <source_location>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI {

// Returns the task's number, 0 for a task<void>, or 128 + n if signal n cancelled it. If the task completes in spite of the
// signal, returns its value or throws its error. Blocks; must not be called in a job.
template <class T>
    requires std::is_void_v<T> || std::convertible_to<T, int>
int run_until_signal(task<T> t, const runtime_options& options = runtime_options(),
                     std::source_location from = std::source_location::current()) {
    detail::signal_canceller signals;
    runtime rt(options);
    const auto block = detail::run_to_end<T>(rt, std::move(t), "main", from, [&signals](detail::root_block& root) noexcept {
        signals.cancels(detail::node_ref<>::share(root));
    });
    if (block->outcome_link().state() == detail::ending::cancelled && signals.number() != 0) {
        detail::report_further_failures(*block);
        return 128 + signals.number();
    }
    if constexpr (std::is_void_v<T>) {
        detail::value_of_root<T>(*block);
        return 0;
    } else {
        return detail::value_of_root<T>(*block);
    }
}

}  // namespace roost::inline ROOST_ABI
