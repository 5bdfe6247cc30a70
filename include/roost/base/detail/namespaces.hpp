#pragma once

#include <roost/base/config.hpp>

namespace roost::inline ROOST_ABI {
namespace seam {}
namespace ext {}
namespace observe {}
// The library's own code writes the names of the seam, of extension points and of what observes without their namespace.
namespace detail {
using namespace seam;
using namespace ext;
using namespace observe;
}  // namespace detail
}  // namespace roost::inline ROOST_ABI
