#pragma once

#include <roost/exec/detail/awaitable.hpp>
#include <roost/shutdown/concepts.hpp>

#include <concepts>

namespace roost::inline ROOST_ABI::detail {

template <class A>
concept withdrawable = awaitable<A> && can_be_cancelled<awaiter_of<A>>;

template <class T>
concept has_size_hint = requires(const T& t) {
    { t.size_hint() } -> std::convertible_to<roost::ext::size_hint>;
};

}  // namespace roost::inline ROOST_ABI::detail
