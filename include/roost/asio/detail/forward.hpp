#pragma once

#include <roost/base/config.hpp>

namespace roost::inline ROOST_ABI::detail {

class driven_context;
class nested_reactor;

}  // namespace roost::inline ROOST_ABI::detail
