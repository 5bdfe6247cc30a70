#pragma once

#include <roost/base/config.hpp>

#include <string>
#include <string_view>

namespace roost::inline ROOST_ABI::detail {

// Appends the text as a JSON string, with its quotes. Every byte that is no part of valid UTF-8 becomes U+FFFD.
void append_json_string(std::string& out, std::string_view text);

// Returns the length of the valid UTF-8 sequence at the beginning of a text; 0 if there is none.
[[nodiscard]] std::size_t utf8_length(std::string_view text) noexcept;

}  // namespace roost::inline ROOST_ABI::detail
