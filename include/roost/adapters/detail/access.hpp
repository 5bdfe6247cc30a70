#pragma once

// How the adapters reach the threads of a poller. Not API.

#include <roost/adapters/detail/forward.hpp>
#include <roost/exec/executor.hpp>

namespace roost::inline ROOST_ABI::postgres {
class poller;
}

namespace roost::inline ROOST_ABI::postgres::detail {

struct adapters_access {
    // Threads for calls that cannot be interrupted.
    [[nodiscard]] static side_threads& starts_of(poller& of) noexcept;
    [[nodiscard]] static side_threads& cancels_of(poller& of) noexcept;
    // Returns the executor whose driver and timers a coroutine of `where` waits with: `where` itself if it has both, else the
    // poller's own. Empty if its thread cannot be started.
    [[nodiscard]] static executor_ref source_of_events(poller& of, executor_ref where) noexcept;
};

}  // namespace roost::inline ROOST_ABI::postgres::detail
