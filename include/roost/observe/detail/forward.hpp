#pragma once

#include <roost/base/config.hpp>

namespace roost::inline ROOST_ABI::detail {

class collector_entry;
class family;
class registry_core;
class scrape;
struct metrics_access;

}  // namespace roost::inline ROOST_ABI::detail
