#pragma once

#include <roost/base/clock.hpp>
#include <roost/base/format_duration.hpp>
#include <roost/base/site.hpp>
#include <roost/shutdown/detail/access.hpp>

#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

// A report of the work that is still running. A report is a value and holds no node. All its guards existed at one moment of
// the call that made it. It includes every guard that was held during the whole call.

namespace roost::inline ROOST_ABI {

namespace observe {

// One group of a report: the work of one kind, name and creation site.
class report_entry {
public:
    report_entry(std::string kind, std::string name, roost::site where)
        : kind_(std::move(kind)), name_(std::move(name)), where_(where) {}

    [[nodiscard]] const std::string& kind() const noexcept { return kind_; }  // "guard", "job", ...
    [[nodiscard]] const std::string& name() const noexcept { return name_; }  // of the node
    // Returns the site where the work was created.
    [[nodiscard]] roost::site site() const noexcept { return where_; }
    [[deprecated("use site()")]] [[nodiscard]] roost::site where() const noexcept { return site(); }
    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    // Returns the age of the oldest member. Empty if no age was recorded.
    [[nodiscard]] std::optional<duration> oldest() const noexcept { return oldest_; }
    // Returns true if oldest() is a lower bound: the age counts from when the guard was first noticed
    // (guard_tracking::sites).
    [[nodiscard]] bool is_at_least() const noexcept { return is_at_least_; }
    // Returns true if count() is approximate: the group holds guards whose site was not recorded.
    [[nodiscard]] bool is_about() const noexcept { return is_about_; }
    // Members that wait on the same object at the same line, and their number. `on` is empty for members that run or whose
    // wait is unknown. `at` is the text ", at db.cpp:41 <- server.cpp:97": the await and those of its callers, if known.
    // `held_by` is the text "held 3 s by job 'transfer' (bank.cpp:42)", of the oldest member, if owners are tracked.
    struct wait {
        std::string on;
        std::string at;
        std::string held_by;
        std::size_t count = 0;
        bool uninterruptible = false;
    };
    // Returns the distinct waits of the group, the oldest member's first. At most 64.
    [[nodiscard]] const std::vector<wait>& waits() const noexcept { return waits_; }
    // Returns the wait of the oldest member.
    [[nodiscard]] const std::string& waits_on() const noexcept;
    [[nodiscard]] bool is_uninterruptible() const noexcept;

    // Marks count() as approximate.
    void mark_approximate() noexcept { is_about_ = true; }
    [[deprecated("use mark_approximate()")]] void say_about() noexcept { mark_approximate(); }
    // Returns one line without a line break, such as "2 guards of 'uploads' (upload.cpp:17), oldest at least 1.3 s".
    [[nodiscard]] std::string to_string() const;

private:
    friend struct detail::shutdown_access;
    void add(std::size_t n, std::optional<duration> age, std::string on = {}, bool uninterruptible = false) {
        add(n, age, wait{std::move(on), {}, {}, n, uninterruptible});
    }
    void add(std::size_t n, std::optional<duration> age, wait what);
    void add_at_least(std::size_t n, std::optional<duration> age);

    std::string kind_;
    std::string name_;
    roost::site where_;
    std::size_t count_ = 0;
    std::optional<duration> oldest_;
    std::vector<wait> waits_;
    std::size_t unlisted_ = 0;  // members that wait on further objects
    bool is_at_least_ = false;
    bool is_about_ = false;
};

}  // namespace observe

// The groups of a subtree's outstanding work. A copyable value; thread-safe to read.
class shutdown_report {
public:
    using const_iterator = std::vector<observe::report_entry>::const_iterator;

    shutdown_report() = default;
    explicit shutdown_report(std::vector<observe::report_entry> groups);

    [[nodiscard]] bool is_empty() const noexcept { return entries_.empty(); }
    // Returns the sum of count() over all groups.
    [[nodiscard]] std::size_t total() const noexcept { return total_; }
    // Returns the groups, oldest first; equal ages are sorted by site, then name.
    [[nodiscard]] const std::vector<observe::report_entry>& entries() const& noexcept { return entries_; }
    [[nodiscard]] std::vector<observe::report_entry> entries() && noexcept { return std::move(entries_); }
    [[nodiscard]] const_iterator begin() const noexcept { return entries_.begin(); }
    [[nodiscard]] const_iterator end() const noexcept { return entries_.end(); }

    // Returns "no work outstanding", or a header and one line per group. Ends with a line break.
    [[nodiscard]] std::string to_string() const;

private:
    std::vector<observe::report_entry> entries_;
    std::size_t total_ = 0;
};

[[deprecated("use format_duration()")]] [[nodiscard]] inline std::string format_age(duration age) {
    return format_duration(age);
}

}  // namespace roost::inline ROOST_ABI
