#pragma once

// In which order the components of one stage are stopped: a pure function.

#include <roost/base/clock.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace roost::inline ROOST_ABI::service::detail {

// What decides about one component; its index is the order in which it was added.
class stop_place {
public:
    constexpr explicit stop_place(std::optional<int> rank, bool is_main = false) noexcept : rank_(rank), main_(is_main) {}
    [[nodiscard]] constexpr std::optional<int> rank() const noexcept { return rank_; }
    [[nodiscard]] constexpr bool is_main() const noexcept { return main_; }

private:
    std::optional<int> rank_;
    bool main_;
};

// Groups of indices, first to be stopped first: ranks downwards, equal ones together; then those without, the last added
// first; then main.
[[nodiscard]] std::vector<std::vector<std::size_t>> stop_order(const std::vector<stop_place>& places);

// How long a group may take when `groups` (itself included) have to share `left`.
[[nodiscard]] constexpr duration fair_share(duration left, std::size_t groups) noexcept {
    return left <= duration(0) || groups == 0 ? duration(0) : left / static_cast<duration::rep>(groups);
}

}  // namespace roost::inline ROOST_ABI::service::detail
