#pragma once

#include <roost/base/config.hpp>
#include <roost/base/site.hpp>

#include <string_view>

namespace roost::inline ROOST_ABI::detail {

// Ends the program with one sentence: kind of object, name, site, and the rule that was broken.
// For bugs in the calling program or in Roost; expected failures are values.
[[noreturn]] void panic(std::string_view object, std::string_view name, site made_at, std::string_view rule) noexcept;
[[noreturn]] void panic(std::string_view rule, site at = std::source_location::current()) noexcept;

}  // namespace roost::inline ROOST_ABI::detail
