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

// What guarded<T> and interrupt<T> pass on, as small concepts: anything that has the functions qualifies. Every function may
// give its result directly (it blocks, or never waits), an awaitable of it, or a task.

namespace roost::inline ROOST_ABI {

// How many more elements a stream or range has: at least lower, at most upper when that is known.
struct size_hint {
    std::size_t lower = 0;
    std::optional<std::size_t> upper;
    friend bool operator==(const size_hint&, const size_hint&) = default;
};

// next() gives std::optional<element> or a pointer to one; empty is the end.
template <class T>
concept stream = requires(T& t) { t.next(); };
// read_some(buffer) gives how many bytes it has read; zero is the end.
template <class T>
concept byte_reader = requires(T& t, std::span<std::byte> buffer) { t.read_some(buffer); };
// fill_buffer() gives what is buffered, reading when that is empty; an empty span is the end. consume(n) takes from it.
template <class T>
concept buffered_reader = requires(T& t, std::size_t n) {
    t.fill_buffer();
    t.consume(n);
};
// write_some(bytes) gives how many were accepted.
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

// An awaiter whose await_suspend accepts only certain promises counts, too.
template <class A>
concept looks_like_awaiter = requires(std::remove_reference_t<A>& a) {
    { a.await_ready() } -> std::convertible_to<bool>;
    a.await_resume();
};

template <class A>
concept awaitable = has_own_co_await<A> || has_foreign_co_await<A> || looks_like_awaiter<A>;

// By value when co_await makes one, else the awaitable itself.
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
inline constexpr awaiter_from_call awaiter_from;  // an object, so that users' functions of that name do not compete
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
