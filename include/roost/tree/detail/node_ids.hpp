#pragma once

#include <roost/tree/detail/node.hpp>

#include <cstdint>

// Numbers of nodes, with which a program compares two snapshots. A node gets its number when it is observed first. So a node
// that is never observed costs nothing. No number is used twice.
//
// Why it is not a field: a job has no byte left for it, and most nodes are never observed. The tables are divided into
// stripes, each with a lock. The stripe is a part of the number.
//
// I1  a node in a table has its identified bit; its destructor removes it before the memory is freed
// I2  find() calls try_retain() under the stripe's lock: the memory is valid there, and the end of an identified node is
//     committed to its own word (node::end_alone)

namespace roost::inline ROOST_ABI::detail {

class node_ids {
public:
    // Returns the node's number. The first call allocates it; without memory it returns 0. Requires a reference to the node,
    // or a walker that is at the node. Thread-safe.
    [[nodiscard]] static std::uint64_t of(node& n) noexcept;
    // Returns the node with that number. Returns an empty reference if the node has ended. Thread-safe.
    [[nodiscard]] static node_ref<> find(std::uint64_t id) noexcept;
    // Called by the destructor of an identified node. Thread-safe.
    static void forget(const node& n) noexcept;
    // Returns how many nodes have a number now. Thread-safe.
    [[nodiscard]] static std::size_t size() noexcept;
};

}  // namespace roost::inline ROOST_ABI::detail
