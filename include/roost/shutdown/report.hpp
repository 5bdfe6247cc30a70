#pragma once

#include <roost/base/clock.hpp>
#include <roost/base/site.hpp>

#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

// What is still running: a value, free of the nodes it is about. Its guards existed together at one moment of the call that made
// it, and every guard that was held during the whole call is among them.

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
    // The count is no exact number: guards whose place was not recorded.
    [[nodiscard]] bool is_about() const noexcept { return is_about_; }
    // Each thing that some of them wait on, the oldest one's first, up to 64. on: empty for those that run, or whose wait is not known.
    struct wait {
        std::string on;
        std::size_t count = 0;
        bool uninterruptible = false;
    };
    [[nodiscard]] const std::vector<wait>& waits() const noexcept { return waits_; }
    // Of the oldest.
    [[nodiscard]] const std::string& waits_on() const noexcept;
    [[nodiscard]] bool is_uninterruptible() const noexcept;

    void add(std::size_t n, std::optional<duration> age, std::string waits_on = {}, bool uninterruptible = false);
    void add_at_least(std::size_t n, std::optional<duration> age);
    void say_about() noexcept { is_about_ = true; }
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
    std::vector<wait> waits_;
    std::size_t unlisted_ = 0;  // that wait on further things
    bool is_at_least_ = false;
    bool is_about_ = false;
};

class shutdown_report {
public:
    using const_iterator = std::vector<report_entry>::const_iterator;

    shutdown_report() = default;
    explicit shutdown_report(std::vector<report_entry> groups);

    [[nodiscard]] bool is_empty() const noexcept { return entries_.empty(); }
    // All groups together.
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
