#pragma once

#include <roost/base/site.hpp>

#include <exception>
#include <string>
#include <string_view>

namespace roost::inline ROOST_ABI {

// Where failures go that nobody else will hear of: of jobs without a parent, of cleanup, of user hooks. There is always one:
// the default prints a line to the standard error stream. Called from any thread; it must not throw.
using failure_sink = void (*)(std::string_view what, std::string_view name, site made_at, std::exception_ptr error) noexcept;

// Null puts the default back. Returns the previous one.
failure_sink set_failure_sink(failure_sink sink) noexcept;

void report_failure(std::string_view what, std::string_view name, site made_at, std::exception_ptr error) noexcept;

// "std::runtime_error: no route to host", or what can be said about anything else that was thrown.
[[nodiscard]] std::string describe(const std::exception_ptr& error);

}  // namespace roost::inline ROOST_ABI
