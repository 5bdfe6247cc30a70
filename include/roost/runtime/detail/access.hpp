#pragma once

// How a runtime watches the loops it runs. Not API.

#include <roost/base/config.hpp>

namespace roost::inline ROOST_ABI {
class loop;
}

namespace roost::inline ROOST_ABI::detail {

class keeper;
class pulse;

struct runtime_access {
    [[nodiscard]] static pulse& pulse_of(loop& of) noexcept;
    static void set_watcher(loop& of, keeper* watcher) noexcept;
};

}  // namespace roost::inline ROOST_ABI::detail
