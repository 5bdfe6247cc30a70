#pragma once

// The tree of a live program as data: one row per node, in pages.
//
//   observe::tree_snapshot all = observe::snapshot(root);
//   for (const observe::snapshot_row& r : all.rows()) { if (r.age() > 10s) std::puts(r.to_string().c_str()); }
//
//   observe::snapshot_page at;                                          // a tree of any size, a page at a time
//   do { send(observe::snapshot(root, observe::snapshot_options().nodes(1000), at).to_json()); } while (!at.is_end());
//
// Thread-safe. The program runs on during the call and between pages, and no lock is held for longer than one list. Each row
// was true at a moment of the call; all rows together need not have been. A node that is alive from the first page to the last
// is in at least one page. If nodes end between two pages, a row may come again: rows have a number to tell them by.

#include <roost/observe/dump.hpp>
#include <roost/tree/detail/page_walk.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roost::inline ROOST_ABI::observe {

// Which nodes are listed, and how many. Nodes that are not listed are walked all the same, so that those below them are found.
class snapshot_options {
public:
    // Lists at most n nodes, in at most n bytes of rows and texts (at least one node), and visits at most n nodes.
    [[nodiscard]] snapshot_options nodes(std::size_t n) const {
        return with([&](snapshot_options& o) { o.nodes_ = n; });
    }
    [[nodiscard]] snapshot_options bytes(std::size_t n) const {
        return with([&](snapshot_options& o) { o.bytes_ = n; });
    }
    [[nodiscard]] snapshot_options visits(std::size_t n) const {
        return with([&](snapshot_options& o) { o.visits_ = n; });
    }
    // Only nodes whose name contains the text; whose kind is this ("job", "scope", "pool", ...); that wait on something whose
    // text contains this; that exist for at least so long (a region is as old as its job). All that are set have to match.
    [[nodiscard]] snapshot_options name(std::string part) const {
        return with([&](snapshot_options& o) { o.name_ = std::move(part); });
    }
    [[nodiscard]] snapshot_options kind(std::string k) const {
        return with([&](snapshot_options& o) { o.kind_ = std::move(k); });
    }
    [[nodiscard]] snapshot_options waits_on(std::string part) const {
        return with([&](snapshot_options& o) { o.waits_on_ = std::move(part); });
    }
    [[nodiscard]] snapshot_options older_than(duration age) const {
        return with([&](snapshot_options& o) { o.age_ = age; });
    }

    [[nodiscard]] std::size_t nodes() const noexcept { return nodes_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::size_t visits() const noexcept { return visits_; }
    // `started`: of the node, or of the job that it is a part of.
    [[nodiscard]] bool matches(const node_description& d, std::optional<time_point> started, time_point now) const noexcept;

private:
    template <class Change>
    [[nodiscard]] snapshot_options with(Change change) const {
        snapshot_options changed = *this;
        change(changed);
        return changed;
    }

    std::size_t nodes_ = 10'000;
    std::size_t bytes_ = 8U << 20U;
    std::size_t visits_ = 1'000'000;
    std::string name_;
    std::string kind_;
    std::string waits_on_;
    duration age_ = duration(-1);
};

class tree_snapshot;
class snapshot_page;
// Returns the page that begins at `from`, and moves `from` behind it. Requires that the caller keeps `root` alive. Throws
// std::bad_alloc.
[[nodiscard]] tree_snapshot snapshot(const node& root, const snapshot_options& how, snapshot_page& from);

// Where the next page begins. A value; holds nothing of the program.
class snapshot_page {
public:
    snapshot_page() = default;
    // Returns true behind the last page.
    [[nodiscard]] bool is_end() const noexcept { return is_end_; }

private:
    friend tree_snapshot snapshot(const node& root, const snapshot_options& how, snapshot_page& from);
    detail::walk_position at_;
    bool is_end_ = false;
};

// One node. Texts are valid as long as the snapshot.
struct snapshot_row {
    std::uint64_t id = 0;  // 0: there was no memory for a number
    std::uint64_t parent = 0;  // 0: the root of the walk
    std::uint32_t depth = 0;
    std::uint32_t units = 0;  // of work, of this node alone: its own, and one per child with work
    std::string_view kind;
    std::string_view name;
    roost::site site;
    std::string_view state;
    level now = level::running;
    level requested = level::running;  // above `now` if a shield or an ignore guard delays it
    bool shield = false;
    bool closing = false;
    bool closed = false;
    bool uninterruptible = false;
    std::string_view reason;  // of the requested level
    std::optional<duration> age;
    std::optional<duration> left;  // until the deadline; negative: it has passed
    std::string_view waits_on;
    std::string_view held_by;  // who holds what it waits on, if owners are tracked
    std::string_view stack;  // "db.cpp:41 <- server.cpp:97": the line it is suspended at, and those of its callers

    // Returns one line without a line break, as in a dump.
    [[nodiscard]] std::string to_string() const;
};

class tree_snapshot {
public:
    tree_snapshot() = default;
    tree_snapshot(tree_snapshot&&) noexcept = default;
    tree_snapshot& operator=(tree_snapshot&&) noexcept = default;

    [[nodiscard]] const std::vector<snapshot_row>& rows() const& noexcept { return rows_; }
    void rows() && = delete;  // its texts would be gone: keep the snapshot in a variable
    // Returns the row with this number; null if there is none.
    [[nodiscard]] const snapshot_row* find(std::uint64_t id) const noexcept;
    [[nodiscard]] std::size_t visited() const noexcept { return visited_; }
    // Returns false if a limit ended the page before the last node.
    [[nodiscard]] bool is_complete() const noexcept { return is_complete_; }
    [[nodiscard]] time_point taken() const noexcept { return taken_; }
    // Returns the size of the rows and their texts, without what their containers reserve.
    [[nodiscard]] std::size_t bytes() const noexcept;

    // One line per row, indented.
    [[nodiscard]] std::string to_text() const;
    // {"schema":1,"complete":true,"nodes":[{"id":1,"parent":0,"depth":0,"kind":"job",...}]}: docs/guide/observe.md lists the
    // members. Always valid JSON and UTF-8, whatever the names contain.
    [[nodiscard]] std::string to_json() const;

private:
    friend tree_snapshot snapshot(const node& root, const snapshot_options& how, snapshot_page& from);
    class builder;

    std::vector<snapshot_row> rows_;
    std::vector<std::vector<char>> texts_;  // blocks that never move
    time_point taken_{};
    std::size_t visited_ = 0;
    bool is_complete_ = true;
};

// Returns the first page.
[[nodiscard]] tree_snapshot snapshot(const node& root, const snapshot_options& how = {});

// Returns the number of a node, which no other node ever gets. Returns 0 for an empty handle, and if there is no memory.
// Thread-safe.
[[nodiscard]] std::uint64_t id_of(const node& n) noexcept;
// Returns the node with this number; an empty handle if it has ended. Thread-safe.
[[nodiscard]] node find_node(std::uint64_t id) noexcept;

}  // namespace roost::inline ROOST_ABI::observe
