#pragma once

// How the layers above, and tests, reach the node behind a handle. Ships because templates need it; not API. What only the
// tree's own sources may do with a node is in node_access.hpp.

#include <roost/base/config.hpp>

namespace roost::inline ROOST_ABI {
class node;
class token;
namespace ext {
class lease;
}
}  // namespace roost::inline ROOST_ABI

namespace roost::inline ROOST_ABI::detail {

class node;

struct tree_access {
    // Ends the program if the handle refers to nothing.
    [[nodiscard]] static node& core_of(const roost::node& of) noexcept;
    // Null if the token refers to nothing.
    [[nodiscard]] static node* target_of(const token& of) noexcept;
    // Returns a lease for a unit that the caller has entered.
    [[nodiscard]] static ext::lease adopt_lease(node& from) noexcept;
};

}  // namespace roost::inline ROOST_ABI::detail
