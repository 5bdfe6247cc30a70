#pragma once

// The order in which the components of one stage are stopped: a pure function.

#include <roost/base/clock.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace roost::inline ROOST_ABI::service::detail {

// The properties of one component that decide its position. Its index is the order of addition.
class stop_place {
public:
    constexpr explicit stop_place(std::optional<int> rank, bool is_main = false) noexcept : rank_(rank), main_(is_main) {}
    [[nodiscard]] constexpr std::optional<int> rank() const noexcept { return rank_; }
    [[nodiscard]] constexpr bool is_main() const noexcept { return main_; }

private:
    std::optional<int> rank_;
    bool main_;
};

// Returns groups of indices, first to be stopped first: ranks downwards, equal ranks together; then those without a rank,
// the last added first; then main.
[[nodiscard]] std::vector<std::vector<std::size_t>> stop_order(const std::vector<stop_place>& places);

// Returns how long a group may take when `groups` groups, itself included, share `left`.
[[nodiscard]] constexpr duration fair_share(duration left, std::size_t groups) noexcept {
    return left <= duration(0) || groups == 0 ? duration(0) : left / static_cast<duration::rep>(groups);
}

}  // namespace roost::inline ROOST_ABI::service::detail
