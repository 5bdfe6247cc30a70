#pragma once

#include <roost/shutdown/report.hpp>

namespace roost::inline ROOST_ABI::detail {

class node;

// Returns the report of n's subtree. Requires that the caller holds n. Throws std::bad_alloc.
[[nodiscard]] shutdown_report report_of(node& n);

}  // namespace roost::inline ROOST_ABI::detail
