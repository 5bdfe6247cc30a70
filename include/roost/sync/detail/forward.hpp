#pragma once

#include <roost/base/config.hpp>

namespace roost::inline ROOST_ABI::detail {

class choice;
class permits;
class wait_list;
class wake_chain;

}  // namespace roost::inline ROOST_ABI::detail
