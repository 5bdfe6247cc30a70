#pragma once

#include <roost/base/config.hpp>

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <optional>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

// Concepts for what guarded<T> and interrupt<T> forward. A type qualifies by having the functions. Each function returns its
// result directly (it blocks, or never waits), or an awaitable or task for the result.

namespace roost::inline ROOST_ABI {

// The number of remaining elements of a stream or range: at least lower, at most upper. An empty upper is unknown.
struct size_hint {
    std::size_t lower = 0;
    std::optional<std::size_t> upper;
    friend bool operator==(const size_hint&, const size_hint&) = default;
};

// next() returns std::optional<element> or a pointer to an element. Empty or null means the end.
template <class T>
concept stream = requires(T& t) { t.next(); };
// read_some(buffer) returns the number of bytes read. Zero means the end.
template <class T>
concept byte_reader = requires(T& t, std::span<std::byte> buffer) { t.read_some(buffer); };
// fill_buffer() returns the buffered bytes, and reads if there are none. An empty span means the end. consume(n) removes the
// first n buffered bytes.
template <class T>
concept buffered_reader = requires(T& t, std::size_t n) {
    t.fill_buffer();
    t.consume(n);
};
// write_some(bytes) returns the number of bytes accepted.
template <class T>
concept byte_writer = requires(T& t, std::span<const std::byte> bytes) { t.write_some(bytes); };

namespace detail {

template <class A>
concept is_awaiter = requires(std::remove_reference_t<A>& a, std::coroutine_handle<> h) {
    { a.await_ready() } -> std::convertible_to<bool>;
    a.await_suspend(h);
    a.await_resume();
};
template <class A>
concept has_own_co_await = requires(A&& a) { std::forward<A>(a).operator co_await(); };
template <class A>
concept has_foreign_co_await = requires(A&& a) { operator co_await(std::forward<A>(a)); };

// Also true for an awaiter whose await_suspend accepts only certain promises.
template <class A>
concept looks_like_awaiter = requires(std::remove_reference_t<A>& a) {
    { a.await_ready() } -> std::convertible_to<bool>;
    a.await_resume();
};

template <class A>
concept awaitable = has_own_co_await<A> || has_foreign_co_await<A> || looks_like_awaiter<A>;

// Returns the awaiter by value if operator co_await creates one, else a reference to the awaitable itself.
class awaiter_from_call {
public:
    template <awaitable A>
    decltype(auto) operator()(A&& a) const {
        if constexpr (has_own_co_await<A>) {
            return std::forward<A>(a).operator co_await();
        } else if constexpr (has_foreign_co_await<A>) {
            return operator co_await(std::forward<A>(a));
        } else {
            return static_cast<std::remove_reference_t<A>&>(a);
        }
    }
};
inline constexpr awaiter_from_call awaiter_from;  // an object, so users' functions of that name are no overloads
template <awaitable A>
using awaiter_made_from = decltype(awaiter_from(std::declval<A>()));

template <class A>
concept can_be_withdrawn = requires(std::remove_reference_t<A>& a) {
    { a.try_cancel() } noexcept -> std::same_as<bool>;
};

template <class A>
concept withdrawable = awaitable<A> && can_be_withdrawn<awaiter_made_from<A>>;

template <class T>
concept has_size_hint = requires(const T& t) {
    { t.size_hint() } -> std::convertible_to<roost::size_hint>;
};

}  // namespace detail

}  // namespace roost::inline ROOST_ABI
