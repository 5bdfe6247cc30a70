#pragma once

#include <roost/tree/detail/node.hpp>

// How the tree's own sources reach into a node. Ships because templates need it; not API.

namespace roost::inline ROOST_ABI::detail {

struct node_access {
    static constexpr std::uint8_t is_linked = 2;        // flags_: in the parent's list
    static constexpr std::uint8_t unlink_wanted = 4;    // flags_: the last cursor to leave unlinks
    static constexpr std::uint8_t destroy_wanted = 8;   // flags_: and destroys

    static small_mutex& lock_of(const node& n) noexcept { return n.lock_; }
    static member_list& members_of(node& n) noexcept { return n.members_; }
    static atomic<level_word>& level_of(node& n) noexcept { return n.level_; }
    static atomic<std::int64_t>& deadline_of(node& n) noexcept { return n.deadline_; }
    static atomic<work_word>& work_of(node& n) noexcept { return n.work_; }
    static std::uint16_t& cursors_of(node& n) noexcept { return n.cursors_; }
    static std::uint8_t& flags_of(node& n) noexcept { return n.flags_; }
    static void spread(node& n, level to) noexcept { n.spread(to); }

    // Requires a reference. If nothing else is left (no work, no other reference, no cursor), takes the node out of the tree,
    // destroys it and gives its parent's reference back. Returns false, and does nothing, otherwise. Not for roots.
    [[nodiscard]] static bool end_unshared(node& n) noexcept;
    // Destroys a dead node that is out of its parent's list, then its parent if that was the last reference, and so on.
    static void dispose_unlinked(node* n) noexcept;
    // Takes a dead node out of its parent's list first. A walker standing on it does both when it leaves.
    static void dispose(node* n) noexcept;
    // The node's own reasons: see src/tree/why.cpp.
    static void release_reasons(void* chain) noexcept;
};

}  // namespace roost::inline ROOST_ABI::detail
