#pragma once

#include <roost/base/config.hpp>

namespace roost::inline ROOST_ABI {
namespace seam {}
// The library's own code writes the names of the seam without its namespace.
namespace detail {
using namespace seam;
}
}  // namespace roost::inline ROOST_ABI
