#pragma once

// Runs a task on an executor and blocks the calling thread until it and everything it started has ended. For main() and for
// threads that are none of the executor's: called from a job it throws error(would_deadlock), because it would block the very
// thread that has to do the work.

#include <roost/task/as_outcome.hpp>
#include <roost/task/checkpoint.hpp>
#include <roost/task/root.hpp>

namespace roost::inline ROOST_ABI {

namespace detail {

void refuse_to_block(executor_ref where, site from);
[[noreturn]] void throw_cancelled(const reason& why);

}  // namespace detail

template <class T>
[[nodiscard]] outcome<T> block_on_outcome(executor_ref where, task<T> t, node_name name = "main",
                                          std::source_location from = std::source_location::current()) {
    detail::refuse_to_block(where, from);
    auto* root = new detail::root_block(where, "root", from, detail::silent_policy);
    const auto keep = node_ref<detail::root_block>::adopt(root);
    auto block = [&] {
        try {
            return detail::start_job<T>(*root, name, t.release_frame(), start::scheduled, from);
        } catch (...) {
            root->close();
            throw;
        }
    }();
    root->close();
    root->ended.wait_blocking();
    return detail::outcome_from<T>(*block, block->take_suppressed(0));
}

// The value, or throws the error with its own type. A task that ended cancelled throws error(closed) with the reason.
template <class T>
T block_on(executor_ref where, task<T> t, node_name name = "main",
           std::source_location from = std::source_location::current()) {
    outcome<T> ended = block_on_outcome(where, std::move(t), name, from);
    if (ended.is_cancelled()) {
        detail::throw_cancelled(ended.why());
    }
    return std::move(ended).value_or_throw();
}

}  // namespace roost::inline ROOST_ABI
