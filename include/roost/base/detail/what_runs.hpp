#pragma once

#include <roost/base/config.hpp>
#include <roost/base/site.hpp>

#include <string>
#include <string_view>

namespace roost::inline ROOST_ABI::detail {

// Returns the name of what the calling thread is running, empty if nothing. Sets its site, and the line of the await that it
// continued from (unknown if it has just started). Installed by the layer that runs jobs. Returns the previous function; null:
// none.
using running_function = std::string_view (*)(site& where, site& continued) noexcept;
running_function set_running_function(running_function find) noexcept;
// Returns " [in 'transfer' (bank.cpp:42), after its await at db.cpp:41]" for the sentence about a mistake. Empty outside of jobs, and if `about` is that job.
[[nodiscard]] std::string in_what_runs(std::string_view about);

}  // namespace roost::inline ROOST_ABI::detail
