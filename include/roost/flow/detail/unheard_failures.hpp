#pragma once

// The failures of a coalesced computation, for the case that no getter is left to receive them.

#include <roost/base/config.hpp>

#include <exception>
#include <vector>

namespace roost::inline ROOST_ABI::detail {

// Reports the failures of a computation that no getter waits for any more.
void report_unheard(const std::vector<std::exception_ptr>& failures) noexcept;
void keep_failures(std::vector<std::exception_ptr>& in, const std::exception_ptr& error,
                   const std::vector<std::exception_ptr>& others) noexcept;

}  // namespace roost::inline ROOST_ABI::detail
