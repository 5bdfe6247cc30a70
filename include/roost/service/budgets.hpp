#pragma once

#include <roost/base/clock.hpp>
#include <roost/base/format_duration.hpp>
#include <roost/service/phase.hpp>

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace roost::inline ROOST_ABI::service {

// How long each phase of shutdown may take, under one total. Phases without a budget share the rest of the total. Their
// proportions are 0 : 2 : 15 : 4 : 1 : 3 (lame duck, stop intake, drain, cancel, abort, release). The default total is 25 s:
// five less than the 30 s that Kubernetes allows.
class budgets {
public:
    constexpr budgets() noexcept = default;

    constexpr budgets& total(duration d) noexcept { return total_ = d, *this; }
    constexpr budgets& set(phase p, duration d) noexcept { return parts_[index(p)] = d, *this; }

    [[nodiscard]] constexpr duration total() const noexcept { return total_; }
    // Returns the budget set for p, or an empty optional.
    [[nodiscard]] constexpr std::optional<duration> get(phase p) const noexcept { return parts_[index(p)]; }

    // Returns true for lame_duck .. release.
    [[nodiscard]] static constexpr bool has_budget(phase p) noexcept { return p >= phase::lame_duck && p <= phase::release; }

private:
    static constexpr std::size_t index(phase p) noexcept { return static_cast<std::size_t>(p); }

    duration total_ = std::chrono::seconds(25);
    std::array<std::optional<duration>, phase_count> parts_{};
};

// Budgets, checked and complete.
class schedule {
public:
    constexpr schedule() noexcept = default;
    [[nodiscard]] constexpr duration total() const noexcept { return total_; }
    [[nodiscard]] constexpr duration of(phase p) const noexcept { return parts_[static_cast<std::size_t>(p)]; }
    // Returns "total 25 s: lame duck 0 ms, stop intake 2 s, ...".
    [[nodiscard]] std::string to_string() const;

private:
    friend class schedule_result;
    duration total_{};
    std::array<duration, phase_count> parts_{};
};

// A schedule, or one sentence that describes the problem.
class schedule_result {
public:
    [[nodiscard]] static schedule_result make(const budgets& b);
    [[nodiscard]] bool is_good() const noexcept { return problem_.empty(); }
    [[nodiscard]] const schedule& value() const noexcept { return value_; }
    [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

private:
    schedule value_;
    std::string problem_;
};

// Overrides b with PREFIX_TOTAL, PREFIX_LAME_DUCK, PREFIX_STOP_INTAKE, PREFIX_DRAIN, PREFIX_CANCEL, PREFIX_ABORT and
// PREFIX_RELEASE. Returns an empty string, or one sentence that describes the problem.
[[nodiscard]] std::string read_environment(budgets& b, std::string_view prefix);

// Parses "15s", "500ms", "2m", "1.5s", "3" (seconds). Returns an empty optional for any other text and for negative values.
[[nodiscard]] std::optional<duration> parse_duration(std::string_view text) noexcept;
using roost::format_duration;

}  // namespace roost::inline ROOST_ABI::service
