#pragma once

#include <roost/base/config.hpp>

namespace roost::inline ROOST_ABI::detail {

class choice;
class wait_list;
class wake_chain;

}  // namespace roost::inline ROOST_ABI::detail
