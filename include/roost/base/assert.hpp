#pragma once

#include <roost/base/detail/panic.hpp>

namespace roost::inline ROOST_ABI::observe {

// Called with the sentence before the program ends. If it returns, the program still ends. The explorer's handler does not
// return: it turns the sentence into a verdict with a replay string.
using panic_handler = void (*)(const char* sentence);
// Null removes the handler. Returns the previous handler. Not thread-safe: requires that no other thread uses Roost.
panic_handler set_panic_handler(panic_handler handler) noexcept;

}  // namespace roost::inline ROOST_ABI::observe

// Checked in debug and model builds. `rule` names the invariant ("I2: ...").
#if ROOST_CHECKED
#define ROOST_ASSERT(condition, rule) ((condition) ? void() : ::roost::detail::panic(rule))
#else
#define ROOST_ASSERT(condition, rule) (true ? void() : void(condition))
#endif
