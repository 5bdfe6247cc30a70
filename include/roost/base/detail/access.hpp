#pragma once

// How the tree and its tests reach into a reason. Ships because it is a friend; not API.

#include <roost/base/config.hpp>

#include <string_view>

namespace roost::inline ROOST_ABI {
class reason;
}

namespace roost::inline ROOST_ABI::detail {

struct base_access {
    // Returns a copy with the origin set, or `of` if it is empty or has one.
    [[nodiscard]] static reason at_origin(const reason& of, std::string_view name);
};

}  // namespace roost::inline ROOST_ABI::detail
