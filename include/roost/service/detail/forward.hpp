#pragma once

// Names of the service layer that headers use before their definitions.

#include <roost/base/config.hpp>

namespace roost::inline ROOST_ABI::service {
class component;
}  // namespace roost::inline ROOST_ABI::service

namespace roost::inline ROOST_ABI::service::detail {
class component_list;
class host_core;
}  // namespace roost::inline ROOST_ABI::service::detail
