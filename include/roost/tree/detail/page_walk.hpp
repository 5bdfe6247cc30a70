#pragma once

// A walk in pages. No lock and no node is held between two pages. A position has only numbers: of the last visited node, of
// the nodes above it, and of some that came before each of them. So a page may begin at any later time, whichever nodes have
// ended since.
//
// Every node that is alive from the first page to the last is visited. If the last visited node has ended before the next
// page, this page begins behind an older one. Then the nodes between the two are visited again; a reader compares their
// numbers.

#include <roost/tree/detail/node_ids.hpp>
#include <roost/tree/visit.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace roost::inline ROOST_ABI::detail {

// Fills in the description of the node, from the node and its view.
void describe_node(node& n, std::uint32_t depth, observe::node_description& d) noexcept;

// Where a page ended. An empty position is before the first node.
class walk_position {
public:
    static constexpr std::size_t most_remembered = 32;  // of one list: the last eight, and fewer and fewer of those before
    static constexpr std::size_t most_recent = 8;

    [[nodiscard]] bool is_at_begin() const noexcept { return levels_.empty(); }

    // One list of siblings on the way down: the nodes visited last, newest last. Of all but the last one, the subtree is
    // visited.
    struct level {
        std::vector<std::uint64_t> seen;
    };
    // Called when a node at this depth (the root: 0) is visited. Throws std::bad_alloc.
    void visited(std::uint32_t depth, std::uint64_t id);
    // Called when the subtree of the node at this depth was visited.
    void finished(std::uint32_t depth) noexcept;

    [[nodiscard]] const std::vector<level>& levels() const noexcept { return levels_; }
    [[nodiscard]] bool is_last_finished() const noexcept { return is_last_finished_; }

private:
    std::vector<level> levels_;
    bool is_last_finished_ = false;
};

// Calls fn for the next nodes, parents first, until fn returns false. `id` is 0 if there is no memory for a number. Returns
// true if the walk is complete. No lock is held during fn. Requires that no other thread uses `at`. Throws std::bad_alloc.
using page_function = bool (*)(void* context, const observe::node_description& d, std::uint64_t id) noexcept;
[[nodiscard]] bool walk_page(const roost::node& root, walk_position& at, void* context, page_function fn);

}  // namespace roost::inline ROOST_ABI::detail
