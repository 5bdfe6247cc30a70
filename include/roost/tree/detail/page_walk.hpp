#pragma once

// A walk in pages. Nothing is held between two pages: a position is the numbers of the last node that was visited, of the nodes
// above it, and of some that came before each of them. So a page may begin at any later time, whatever has ended since.
//
// Every node that is alive from the first page to the last is visited. If the node at which the last page ended has ended too,
// the page begins behind an older one. Nodes between the two are visited again; a reader keeps rows by number.

#include <roost/tree/detail/node_ids.hpp>
#include <roost/tree/visit.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace roost::inline ROOST_ABI::detail {

// Fills in what the node and its view know.
void describe_node(node& n, std::uint32_t depth, observe::node_description& d) noexcept;

// Where a page ended. Empty: before the first node.
class walk_position {
public:
    static constexpr std::size_t most_remembered = 32;  // of one list: the last eight, and ever fewer of those before
    static constexpr std::size_t most_recent = 8;

    [[nodiscard]] bool is_at_begin() const noexcept { return levels_.empty(); }

    // One list on the way down: the nodes visited last, newest last; all but the last one with everything below.
    struct level {
        std::vector<std::uint64_t> seen;
    };
    // Called when a node at this depth (the root: 0) is visited; throws std::bad_alloc.
    void visited(std::uint32_t depth, std::uint64_t id);
    // Called when everything below the node at this depth was visited.
    void finished(std::uint32_t depth) noexcept;

    [[nodiscard]] const std::vector<level>& levels() const noexcept { return levels_; }
    [[nodiscard]] bool is_last_finished() const noexcept { return is_last_finished_; }

private:
    std::vector<level> levels_;
    bool is_last_finished_ = false;
};

// Calls fn for the next nodes, parents first, until it returns false. `id` is 0 if there is no memory for a number. Returns true
// if the walk is complete. No lock is held during fn. Requires that the caller keeps root alive. Throws std::bad_alloc.
using page_function = bool (*)(void* context, const observe::node_description& d, std::uint64_t id) noexcept;
[[nodiscard]] bool walk_page(const roost::node& root, walk_position& at, void* context, page_function fn);

}  // namespace roost::inline ROOST_ABI::detail
