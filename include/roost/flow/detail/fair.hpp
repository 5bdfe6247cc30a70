#pragma once

#include <roost/base/config.hpp>

namespace roost::inline ROOST_ABI::detail {

// The type of `fair`, the first argument of a select without priorities.
class fair_t {
public:
    constexpr explicit fair_t(int) noexcept {}
};

}  // namespace roost::inline ROOST_ABI::detail
