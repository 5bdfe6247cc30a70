#pragma once

#include <roost/tree/callback.hpp>

namespace roost::inline ROOST_ABI::detail {

// For waits that have ended: fn does not run in the destructor.
template <class Fn>
using passing_callback = inline_callback<Fn, if_reached::is_skipped>;

}  // namespace roost::inline ROOST_ABI::detail
