#pragma once

// g++ 12.0 to 12.2 destroys a closure with captures twice when it is written inside a full expression with co_await. On those
// compilers such a closure is refused where it is passed to an entry point, with a sentence that says what to write instead.

#include <roost/base/config.hpp>

#include <string_view>
#include <type_traits>

namespace roost::inline ROOST_ABI::detail {

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ == 12 && __GNUC_MINOR__ <= 2
inline constexpr bool closures_are_fragile = true;
#else
inline constexpr bool closures_are_fragile = false;
#endif

template <class F>
constexpr bool is_closure() noexcept {
    return std::string_view(__PRETTY_FUNCTION__).find("<lambda") != std::string_view::npos ||
           std::string_view(__PRETTY_FUNCTION__).find("(lambda") != std::string_view::npos;
}

template <class F>
struct checked_callable {
    using type = std::decay_t<F>;
    static_assert(!closures_are_fragile || std::is_lvalue_reference_v<F> || !is_closure<type>() ||
                      std::is_trivially_destructible_v<type>,
                  "g++ 12.2 destroys what this closure captures twice: pass it as arguments instead (fn, args...), "
                  "or give the closure a name and pass that");
};

template <class F>
using callable_for = typename checked_callable<F>::type;

}  // namespace roost::inline ROOST_ABI::detail
