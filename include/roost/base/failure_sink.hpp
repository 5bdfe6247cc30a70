#pragma once

#include <roost/base/site.hpp>

#include <exception>
#include <string>
#include <string_view>

namespace roost::inline ROOST_ABI {

// Receives unhandled failures: of jobs without a parent, of cleanup, of user hooks. The default sink prints one line to
// standard error. Called by the thread that reports the failure, by several threads at once. Must not throw.
using failure_sink = void (*)(std::string_view what, std::string_view name, site made_at, std::exception_ptr error) noexcept;

// Sets the sink of the program; null restores the default. Returns the previous sink. Thread-safe.
failure_sink set_failure_sink(failure_sink sink) noexcept;

namespace ext {
// Calls the sink. Thread-safe.
void report_failure(std::string_view what, std::string_view name, site made_at, std::exception_ptr error) noexcept;
}  // namespace ext

// Returns "std::runtime_error: no route to host". Returns the type's name alone if the error is not a std::exception.
[[nodiscard]] std::string describe(const std::exception_ptr& error);

}  // namespace roost::inline ROOST_ABI
