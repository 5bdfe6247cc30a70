#pragma once

// What a client may ask for.

#include "http.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace demo {

constexpr std::size_t item_limit = 64;

enum class place { orders, not_a_post, healthz, readyz, metrics, tree, unknown };
[[nodiscard]] place find_place(const request& r) noexcept;

// "tea 3": an item in visible ASCII, a space, how many; a line break may follow.
[[nodiscard]] bool read_order(std::string_view body, std::string& item, std::int64_t& quantity);

}  // namespace demo
