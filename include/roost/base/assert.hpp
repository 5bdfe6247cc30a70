#pragma once

#include <roost/base/config.hpp>
#include <roost/base/site.hpp>

#include <string_view>

namespace roost::inline ROOST_ABI {

// Ends the program with one sentence: kind of object, name, site, and the rule that was broken.
// For bugs in the calling program or in Roost; expected failures are values.
[[noreturn]] void panic(std::string_view object, std::string_view name, site made_at, std::string_view rule) noexcept;
[[noreturn]] void panic(std::string_view rule, site at = std::source_location::current()) noexcept;

// Called before the program ends. The explorer's does not return: it turns the sentence into a verdict with a replay string.
using panic_handler = void (*)(const char* sentence);
// Returns the previous handler; null: none.
panic_handler set_panic_handler(panic_handler handler) noexcept;

}  // namespace roost::inline ROOST_ABI

// Checked in debug and model builds. `rule` names the invariant ("I2: ...").
#if ROOST_CHECKED
#define ROOST_ASSERT(condition, rule) ((condition) ? void() : ::roost::panic(rule))
#else
#define ROOST_ASSERT(condition, rule) (true ? void() : void(condition))
#endif
