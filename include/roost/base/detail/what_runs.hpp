#pragma once

#include <roost/base/config.hpp>
#include <roost/base/site.hpp>

#include <string>
#include <string_view>

namespace roost::inline ROOST_ABI::detail {

// Returns the name of what the calling thread is running, empty if nothing, and sets its site. Installed by the layer that
// runs jobs. Returns the previous function; null: none.
using running_function = std::string_view (*)(site& where) noexcept;
running_function set_running_function(running_function find) noexcept;
// Returns " [in 'transfer' (bank.cpp:42)]" for the sentence about a mistake. Empty outside of jobs, and if `about` is that job.
[[nodiscard]] std::string in_what_runs(std::string_view about);

}  // namespace roost::inline ROOST_ABI::detail
