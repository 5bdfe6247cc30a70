#pragma once

// What co_await does with an x, by the rules of the language: the awaiter is what the member operator co_await of x returns, or
// what a free one returns, or x itself. Every layer asks here. What a task makes of the awaiter: task/detail/frame/await.hpp.

#include <roost/base/config.hpp>

#include <concepts>
#include <coroutine>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

template <class A>
concept has_member_co_await = requires(A&& a) { std::forward<A>(a).operator co_await(); };
template <class A>
concept has_free_co_await = requires(A&& a) { operator co_await(std::forward<A>(a)); };

// Also true for an awaiter whose await_suspend accepts only certain promises.
template <class A>
concept is_awaiter = requires(std::remove_reference_t<A>& a) {
    { a.await_ready() } -> std::convertible_to<bool>;
    a.await_resume();
};

// Something that co_await accepts in a coroutine type without an await_transform of its own.
template <class A>
concept awaitable = has_member_co_await<A> || has_free_co_await<A> || is_awaiter<A>;

// Returns the awaiter by value if operator co_await creates one. Else returns a reference to the object itself, which the
// expression keeps alive. Accepts everything: whether the result is an awaiter is a question of its own. It is an object, as is
// everything here that is called with users' types: a function would compete, by argument-dependent lookup, with functions of
// the same name in their code.
class get_awaiter_call {
public:
    template <class A>
    decltype(auto) operator()(A&& a) const {
        if constexpr (has_member_co_await<A>) {
            return std::forward<A>(a).operator co_await();
        } else if constexpr (has_free_co_await<A>) {
            return operator co_await(std::forward<A>(a));
        } else {
            return std::forward<A>(a);
        }
    }
};
inline constexpr get_awaiter_call get_awaiter;
template <class A>
using awaiter_of = decltype(get_awaiter(std::declval<A>()));

// The type of the await expression: of an awaiter, and of anything else that can be awaited.
template <class Awaiter>
using awaiter_result = decltype(std::declval<std::remove_reference_t<Awaiter>&>().await_resume());
template <class A>
using awaited_result = awaiter_result<awaiter_of<A>>;

// An awaiter whose wait can be withdrawn: try_cancel() returns true if no other thread resumes the coroutine.
template <class Awaiter>
concept can_be_cancelled = requires(std::remove_reference_t<Awaiter>& a) {
    { a.try_cancel() } noexcept -> std::same_as<bool>;
};

// Calls await_suspend of an awaiter with try_cancel(). Returns false if the coroutine is to continue at once.
class suspend_in_call {
public:
    template <class Awaiter, class Promise>
    [[nodiscard]] bool operator()(Awaiter& inner, std::coroutine_handle<Promise> self) const {
        using result = decltype(inner.await_suspend(self));
        static_assert(std::is_void_v<result> || std::is_same_v<result, bool>,
                      "an awaiter with try_cancel() must not transfer control: its await_suspend returns void or bool");
        if constexpr (std::is_void_v<result>) {
            inner.await_suspend(self);
            return true;
        } else {
            return inner.await_suspend(self);
        }
    }
};
inline constexpr suspend_in_call suspend_in;

}  // namespace roost::inline ROOST_ABI::detail
