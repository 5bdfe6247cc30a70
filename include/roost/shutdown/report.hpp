#pragma once

#include <roost/base/clock.hpp>
#include <roost/base/site.hpp>

#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

// What is still running: a value, taken at one moment, free of the nodes it tells of.

namespace roost::inline ROOST_ABI {

class node;

// Work of one kind that was made at one place under one name.
class report_entry {
public:
    report_entry(std::string kind, std::string name, site where)
        : kind_(std::move(kind)), name_(std::move(name)), where_(where) {}

    [[nodiscard]] const std::string& kind() const noexcept { return kind_; }  // "guard", "job", ...
    [[nodiscard]] const std::string& name() const noexcept { return name_; }  // of the node it belongs to
    [[nodiscard]] site where() const noexcept { return where_; }
    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    // Age of the oldest; absent when none was recorded.
    [[nodiscard]] std::optional<duration> oldest() const noexcept { return oldest_; }
    // It may be older: it was noticed then (guard_tracking::sites).
    [[nodiscard]] bool is_at_least() const noexcept { return is_at_least_; }
    // What the oldest waits on; empty when not known.
    [[nodiscard]] const std::string& waits_on() const noexcept { return waits_on_; }
    [[nodiscard]] bool is_uninterruptible() const noexcept { return uninterruptible_; }

    void add(std::size_t n, std::optional<duration> age, std::string waits_on = {}, bool uninterruptible = false);
    void add_at_least(std::size_t n, std::optional<duration> age);
    [[nodiscard]] std::string to_string() const;

    [[nodiscard]] bool same_group(const report_entry& other) const noexcept {
        return kind_ == other.kind_ && where_ == other.where_ && name_ == other.name_;
    }

private:
    std::string kind_;
    std::string name_;
    site where_;
    std::size_t count_ = 0;
    std::optional<duration> oldest_;
    std::string waits_on_;
    bool uninterruptible_ = false;
    bool is_at_least_ = false;
};

class shutdown_report {
public:
    using const_iterator = std::vector<report_entry>::const_iterator;

    shutdown_report() = default;
    explicit shutdown_report(std::vector<report_entry> groups);

    [[nodiscard]] bool is_empty() const noexcept { return entries_.empty(); }
    // Everything outstanding, all groups together.
    [[nodiscard]] std::size_t total() const noexcept { return total_; }
    // Oldest first; ties by place.
    [[nodiscard]] const std::vector<report_entry>& entries() const noexcept { return entries_; }
    [[nodiscard]] const_iterator begin() const noexcept { return entries_.begin(); }
    [[nodiscard]] const_iterator end() const noexcept { return entries_.end(); }

    // "no work outstanding", or a header and one line per group.
    [[nodiscard]] std::string to_string() const;

private:
    std::vector<report_entry> entries_;
    std::size_t total_ = 0;
};

// "2.5 s", "40 ms".
[[nodiscard]] std::string format_age(duration age);

namespace detail {
// Everything in the subtree of n, which the caller holds. May throw std::bad_alloc.
[[nodiscard]] shutdown_report report_of(node& n);
}  // namespace detail

}  // namespace roost::inline ROOST_ABI
