#pragma once

#include <roost/base/config.hpp>
#include <roost/base/site.hpp>

#include <string_view>

namespace roost::inline ROOST_ABI::detail {

// Reports a mistake of the calling program to the failure sink, as an error of type misuse: base/misuse.hpp.
void report_misuse(std::string_view what, std::string_view name, site made_at, std::string_view rule) noexcept;

}  // namespace roost::inline ROOST_ABI::detail
