#pragma once

// Classes of this layer that a public header names before they can be defined.

#include <roost/base/config.hpp>

namespace roost::inline ROOST_ABI::detail {

enum class transfer;

template <class T, class Call, transfer Mode>
class scope_await;
template <class T>
class shared_await;
template <class T>
class task_promise;
class this_limit_call;

}  // namespace roost::inline ROOST_ABI::detail
