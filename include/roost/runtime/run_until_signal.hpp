#pragma once

// run(task) that Ctrl-C and SIGTERM end well.
//
//   int main() { return roost::run_until_signal(serve()); }
//
// The first SIGINT or SIGTERM cancels the task, with the signal's name as the reason; what it started ends with it, and
// destructors and cleanup run. From then on both signals have their former effect: a second Ctrl-C kills a task that does not end.
// When run_until_signal returns, the handlers that were there before are back. A SIGINT that the process ignores from the start
// (nohup, background jobs) stays ignored.
//
// For phases, budgets, reports and readiness there is service::run; for other signals and other reactions, signal_watch.

#include <roost/runtime/detail/signal_hub.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/task/block_on.hpp>

#include <concepts>
#include <source_location>
#include <type_traits>

namespace roost::inline ROOST_ABI {

namespace detail {

// Cancels a tree when one of the signals comes that a user ends programs with.
class signal_canceller {
public:
    signal_canceller();
    ~signal_canceller();
    signal_canceller(const signal_canceller&) = delete;
    signal_canceller& operator=(const signal_canceller&) = delete;

    // Once. At once if a signal has come already.
    void cancels(node_ref<node> root) noexcept;
    // The one that has cancelled; 0 for none. After the end of the tree.
    [[nodiscard]] int number() const noexcept;

private:
    class target;
    std::shared_ptr<target> target_;
};

}  // namespace detail

// Returns the task's number, 0 for a task<void>; 128 + n if signal n cancelled it. A task that ends with a value or an error all the
// same gives that: an error is thrown. Blocks; must not be called in a job.
template <class T>
    requires std::is_void_v<T> || std::convertible_to<T, int>
int run_until_signal(task<T> t, const runtime_options& options = runtime_options(),
                     std::source_location from = std::source_location::current()) {
    detail::signal_canceller signals;
    runtime rt(options);
    const auto block = detail::run_to_end<T>(rt, std::move(t), "main", from, [&signals](detail::root_block& root) noexcept {
        signals.cancels(node_ref<node>::share(root));
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
