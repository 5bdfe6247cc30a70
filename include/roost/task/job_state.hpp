#pragma once

#include <roost/base/config.hpp>

#include <cstdint>
#include <string_view>

namespace roost::inline ROOST_ABI {

// The state of a job. `cancelling` is reached from fresh, active and completing; the last three states are final.
//
//   fresh --starts--> active --body returns, children or leases left--> completing --last one gone--> completed | failed
//     |                  \--cancelled--> cancelling <--cancelled--/         |
//     \--cancelled--------------------------^ --last one gone--> cancelled | failed | completed (it returned a value anyway)
enum class job_state : std::uint8_t { fresh, active, completing, cancelling, completed, failed, cancelled };

[[nodiscard]] constexpr bool is_final(job_state s) noexcept { return s >= job_state::completed; }

[[nodiscard]] constexpr std::string_view to_string(job_state s) noexcept {
    switch (s) {
        case job_state::fresh: return "fresh";
        case job_state::active: return "active";
        case job_state::completing: return "completing";
        case job_state::cancelling: return "cancelling";
        case job_state::completed: return "completed";
        case job_state::failed: return "failed";
        case job_state::cancelled: return "cancelled";
    }
    return "unknown";
}

}  // namespace roost::inline ROOST_ABI
