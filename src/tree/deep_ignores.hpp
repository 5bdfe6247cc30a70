#pragma once

#include <roost/tree/detail/node.hpp>

namespace roost::inline ROOST_ABI::detail {

// Ignore guards beyond those that the byte in their node can count. Few nodes ever have any, so they are in a table beside
// the nodes.
class deep_ignores {
public:
    static constexpr std::uint8_t counted_in_node = 255;
    // Returns false if there is no memory.
    [[nodiscard]] static bool add(const node& of) noexcept;
    // Returns false if the node has none here.
    [[nodiscard]] static bool remove(const node& of) noexcept;
};

}  // namespace roost::inline ROOST_ABI::detail
