#pragma once

// The tree of a live program as data: one row per node, in pages.
//
//   observe::tree_snapshot all = observe::snapshot(root);
//   for (const observe::snapshot_row& r : all.rows()) { if (r.age() > 10s) std::puts(r.to_string().c_str()); }
//
//   observe::snapshot_page at;                                          // a tree of any size, a page at a time
//   do { send(observe::snapshot(root, observe::snapshot_options().nodes(1000), at).to_json()); } while (!at.is_end());
//
// Thread-safe. The program runs on during the call and between pages. No lock is held for longer than the walk of one list
// of siblings. Each row was true at a moment of the call, but not all rows at the same moment. A node that is alive from the
// first page to the last is in at least one page. If nodes end between two pages, a node may be in two pages: compare the
// numbers.

#include <roost/observe/dump.hpp>
#include <roost/tree/detail/page_walk.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roost::inline ROOST_ABI::observe {

// Which nodes are listed, and how many. The walk visits every node, so a listed node may be below one that is not listed.
class snapshot_options {
public:
    // The page ends with the node that reaches n: rows; bytes of rows and their texts; or visited nodes. Defaults: 10 000
    // rows, 8 MiB, a million visits.
    [[nodiscard]] snapshot_options nodes(std::size_t n) const {
        return with([&](snapshot_options& o) { o.nodes_ = n; });
    }
    [[nodiscard]] snapshot_options bytes(std::size_t n) const {
        return with([&](snapshot_options& o) { o.bytes_ = n; });
    }
    [[nodiscard]] snapshot_options visits(std::size_t n) const {
        return with([&](snapshot_options& o) { o.visits_ = n; });
    }
    // Filters. name: the node's name contains the text. kind: the node's kind is equal ("job", "scope", "pool", ...).
    // waits_on: the text of what the node waits on contains this. older_than: the node's age is at least this; a region is as
    // old as its job. A row has to match all of them.
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
// Returns the page that begins at `from`, and moves `from` behind it. Returns an empty page if from.is_end(). Requires that no
// other thread uses `from`. Throws std::bad_alloc; then `from` is unchanged.
[[nodiscard]] tree_snapshot snapshot(const node& root, const snapshot_options& how, snapshot_page& from);

// Where the next page begins. A plain value: it keeps no node alive.
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

// One node. Its texts are valid until the snapshot is destroyed.
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
    std::string_view trace;  // the traceparent of a suspended job, if it has a current_trace
    std::string_view held_by;  // who holds what it waits on, if owners are tracked
    std::string_view stack;  // "db.cpp:41 <- server.cpp:97": the line it is suspended at, and those of its callers

    // Returns one line without a line break: that of a dump, without the owner of what the node waits on. Throws
    // std::bad_alloc.
    [[nodiscard]] std::string to_string() const;
};

// The rows of one page. Movable; the rows move along.
class tree_snapshot {
public:
    tree_snapshot() = default;
    tree_snapshot(tree_snapshot&&) noexcept = default;
    tree_snapshot& operator=(tree_snapshot&&) noexcept = default;

    [[nodiscard]] const std::vector<snapshot_row>& rows() const& noexcept { return rows_; }
    void rows() && = delete;  // the texts would be destroyed: keep the snapshot in a variable
    // Returns the row with this number; null if there is none.
    [[nodiscard]] const snapshot_row* find(std::uint64_t id) const noexcept;
    // Returns how many nodes the walk of this page visited, listed or not.
    [[nodiscard]] std::size_t visited() const noexcept { return visited_; }
    // Returns false if a limit ended the page before the last node.
    [[nodiscard]] bool is_complete() const noexcept { return is_complete_; }
    // Returns when the page was begun.
    [[nodiscard]] time_point taken() const noexcept { return taken_; }
    // Returns the size of the rows and their texts, without what their containers reserve.
    [[nodiscard]] std::size_t bytes() const noexcept;

    // Returns one line per row, indented by depth. Throws std::bad_alloc.
    [[nodiscard]] std::string to_text() const;
    // Returns {"schema":1,"complete":true,"visited":1,"nodes":[{"id":1,"parent":0,"depth":0,"kind":"job",...}]}. The members
    // are in docs/guide/observe.md. The text is valid JSON in valid UTF-8 for any names. Throws std::bad_alloc.
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

// Returns the first page. Thread-safe. Throws std::bad_alloc.
[[nodiscard]] tree_snapshot snapshot(const node& root, const snapshot_options& how = {});

// Returns the number of a node, which no other node ever gets. Returns 0 for an empty handle, and if there is no memory.
// Thread-safe.
[[nodiscard]] std::uint64_t id_of(const node& n) noexcept;
// Returns the node with this number. Returns an empty handle if the node has ended. Thread-safe.
[[nodiscard]] node find_node(std::uint64_t id) noexcept;

}  // namespace roost::inline ROOST_ABI::observe
