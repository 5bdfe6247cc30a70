#pragma once

// g++ 12.0 to 12.2 destroys a closure with captures twice if it is written inside a full expression with co_await. On those
// compilers passing such a closure to an entry point does not compile; the message says what to write instead.

#include <roost/base/config.hpp>

#include <string_view>
#include <type_traits>

namespace roost::inline ROOST_ABI {
template <class T>
class task;
}

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

// The type that fn(args...) returns; task<> if it cannot be called, which another message reports.
template <bool IsCallable, class Fn, class... Args>
struct call_result {
    using type = std::invoke_result_t<Fn, Args...>;
};
template <class Fn, class... Args>
struct call_result<false, Fn, Args...> {
    using type = task<void>;
};
template <bool IsCallable, class Fn, class... Args>
using task_of_call = typename call_result<IsCallable, Fn, Args...>::type;
// T, or task<> if T is no task, which another message reports.
template <bool IsTask, class T>
struct task_or_nothing {
    using type = T;
};
template <class T>
struct task_or_nothing<false, T> {
    using type = task<void>;
};

// As above, for a callable that is called again with the same arguments after a failure. Each call gets the kept copies. A
// parameter T& would refer to such a copy, and the caller's object would silently stay unchanged.
template <class Fn, class... Args>
struct called_again_of {
    static constexpr bool is_callable = std::is_invocable_v<Fn, Args&...>;
    static constexpr bool takes_copies = !is_callable || std::is_invocable_v<Fn, const Args&...>;
    static_assert(is_callable,
                  "fn(args...) cannot be called with these arguments, which are passed as copies; for a parameter that is a "
                  "reference write std::ref(x)");
    static_assert(
        takes_copies,
        "fn(args...) takes a reference to an argument that is passed as a copy, so it would change the copy: write "
        "std::ref(x), or take the parameter by value or by const reference");
    using type = task_of_call<is_callable, Fn, Args&...>;
};
template <class Fn, class... Args>
using called_again = typename called_again_of<Fn, Args...>::type;

template <class F>
using callable_for = typename checked_callable<F>::type;

}  // namespace roost::inline ROOST_ABI::detail
