#pragma once

#include <roost/tree/detail/node.hpp>

#include <cstdint>

// Numbers of nodes, for comparing two looks at a running program. A node is given its number at the first look at it, so a node
// that nothing looks at costs nothing. A number is never given twice.
//
// Why it is not a field: a job's bookkeeping is full to the last byte, and most nodes are never looked at. The tables are
// divided into stripes, each with a lock. The stripe is a part of the number.
//
// I1  a node in a table has its identified bit; its destructor takes it out before the memory goes
// I2  find() calls try_retain() under the stripe's lock: the memory is valid there, and the end of an identified node is
//     committed to its own word (node::end_alone)

namespace roost::inline ROOST_ABI::detail {

class node_ids {
public:
    // Returns the node's number; gives it one at the first call. Returns 0 if there is no memory. Requires a reference, or that
    // the caller's walker stands on the node. Thread-safe.
    [[nodiscard]] static std::uint64_t of(node& n) noexcept;
    // Returns the node with that number. Empty if it has ended. Thread-safe.
    [[nodiscard]] static node_ref<> find(std::uint64_t id) noexcept;
    // Called by the destructor of an identified node.
    static void forget(const node& n) noexcept;
    // Returns how many nodes have a number now.
    [[nodiscard]] static std::size_t size() noexcept;
};

}  // namespace roost::inline ROOST_ABI::detail
