#pragma once

// Names of the adapters that their headers use before the definitions.

#include <roost/base/config.hpp>

namespace roost::inline ROOST_ABI::postgres::detail {
class session;
class side_threads;
class watched_entry;
}  // namespace roost::inline ROOST_ABI::postgres::detail

namespace roost::inline ROOST_ABI::sqlite::detail {
class opener;
class write_line;
}  // namespace roost::inline ROOST_ABI::sqlite::detail
