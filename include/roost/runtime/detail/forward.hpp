#pragma once

// Classes that public headers of this layer only point to.

#include <roost/base/config.hpp>

namespace roost::inline ROOST_ABI::detail {

class keeper;
class lane_core;

}  // namespace roost::inline ROOST_ABI::detail
