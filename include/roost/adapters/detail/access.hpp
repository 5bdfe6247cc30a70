#pragma once

// How the adapters reach the threads of a poller. Not API.

#include <roost/adapters/detail/forward.hpp>

namespace roost::inline ROOST_ABI::postgres {
class poller;
}

namespace roost::inline ROOST_ABI::postgres::detail {

// Threads for calls that cannot be interrupted.
struct adapters_access {
    [[nodiscard]] static side_threads& starts_of(poller& of) noexcept;
    [[nodiscard]] static side_threads& cancels_of(poller& of) noexcept;
};

}  // namespace roost::inline ROOST_ABI::postgres::detail
