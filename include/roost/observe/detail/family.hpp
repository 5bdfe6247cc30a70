#pragma once

// All series of one metric. A registry has one family per name.

#include <roost/observe/buckets.hpp>
#include <roost/observe/detail/series.hpp>
#include <roost/observe/metric_name.hpp>

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roost::inline ROOST_ABI::detail {

enum class metric_kind : std::uint8_t { counter, gauge, histogram };
[[nodiscard]] std::string_view to_string(metric_kind kind) noexcept;

// The definition of a metric. Equal definitions share their series.
struct metric_definition {
    std::string name;
    std::string help;
    metric_kind kind;
    std::vector<std::string> labels;
    std::vector<double> bounds;  // of a histogram
    double resolution = 0;  // of a histogram

    // Throws error(refused) with a sentence if the name does not suit the kind, or if a label is named twice.
    void require_valid() const;
};

// Label values above the limit share one series with the value `other` for every label.
class family {
public:
    static constexpr std::size_t most_series = 200;
    static constexpr std::size_t longest_value = 120;

    explicit family(metric_definition of);  // throws std::bad_alloc
    [[nodiscard]] const metric_definition& definition() const noexcept { return definition_; }
    // Returns the series with these values. Throws std::bad_alloc if it is new, and error(refused) if the number of values is
    // wrong.
    [[nodiscard]] std::shared_ptr<series> with(std::span<const std::string_view> values);
    // For a metric without labels.
    [[nodiscard]] const std::shared_ptr<series>& only() const noexcept { return other_; }
    [[nodiscard]] std::vector<std::shared_ptr<series>> all() const;
    [[nodiscard]] std::uint64_t overflows() const noexcept { return overflows_.read(); }

private:
    [[nodiscard]] std::shared_ptr<series> make(std::vector<std::string> values) const;
    [[nodiscard]] std::shared_ptr<series> find(std::uint64_t hash, std::span<const std::string_view> values) const noexcept;

    const metric_definition definition_;
    mutable small_mutex lock_;  // of hashes_, series_ and is_other_used_
    std::vector<std::uint64_t> hashes_;
    std::vector<std::shared_ptr<series>> series_;
    std::shared_ptr<series> other_;  // with labels: for the values above the limit, and for the value `other`
    bool is_other_used_ = false;  // by a caller that named it
    thread_counter overflows_;
};

// Appends value as valid UTF-8 of at most `longest` bytes: replaces broken sequences and control characters, cuts what is too
// long at a whole character and appends "...".
void append_clean(std::string& to, std::string_view value, std::size_t longest);

}  // namespace roost::inline ROOST_ABI::detail
