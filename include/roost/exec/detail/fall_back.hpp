#pragma once

#include <roost/exec/work.hpp>

#include <string_view>

namespace roost::inline ROOST_ABI {
class executor_ref;
}

namespace roost::inline ROOST_ABI::detail {

// The rest of post_or_fall_back(), after `to` has refused w or is empty.
void fall_back(executor_ref to, work& w, std::string_view what) noexcept;

}  // namespace roost::inline ROOST_ABI::detail
