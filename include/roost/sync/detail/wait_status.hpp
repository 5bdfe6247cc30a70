#pragma once

#include <roost/base/outcome.hpp>
#include <roost/sync/waiter.hpp>

namespace roost::inline ROOST_ABI::detail {

[[nodiscard]] constexpr wait_status status_of(claim how) noexcept {
    switch (how) {
        case claim::cancelled: return wait_status::cancelled;
        case claim::expired: return wait_status::expired;
        default: return wait_status::done;
    }
}

[[gnu::cold]] void value_not_sent(wait_status why) noexcept;

}  // namespace roost::inline ROOST_ABI::detail
