#pragma once

#include <roost/shutdown/concepts.hpp>
#include <roost/shutdown/detail/awaiter_elsewhere.hpp>
#include <roost/shutdown/detail/concepts.hpp>
#include <roost/shutdown/detail/unawaited_calls.hpp>
#include <roost/shutdown/guard.hpp>

namespace roost::inline ROOST_ABI {

// Holds a T and a guard; the guard is destroyed with the T. Forwards awaiting, iterating, streaming, reading and writing to T
// unchanged. Stop has no effect on these calls. Each copy holds a guard of its own.
template <class T>
class guarded : public detail::unawaited_calls<guarded<T>, T> {
public:
    template <class U>
    guarded(U&& inner, roost::guard held) : inner_(std::forward<U>(inner)), guard_(std::move(held)) {}

    [[nodiscard]] T& operator*() & noexcept { return inner_; }
    [[nodiscard]] const T& operator*() const& noexcept { return inner_; }
    [[nodiscard]] T* operator->() noexcept { return &inner_; }
    [[nodiscard]] const T* operator->() const noexcept { return &inner_; }
    // Returns the T and drops the guard.
    [[nodiscard]] T into_inner() && {
        T out(std::move(inner_));
        guard_.reset();
        return out;
    }
    [[nodiscard]] const roost::guard& guard() const noexcept { return guard_; }

    auto operator co_await() &
        requires detail::awaitable<T&>
    {
        return detail::awaiter_of_kept(inner_);
    }
    auto operator co_await() &&
        requires detail::awaitable<T&&>
    {
        return detail::awaiter_of_kept(std::move(inner_));
    }

    // For a T that only a task can await, such as a task. Lookup finds `roost_await_in_task` where the task layer is included.
    template <class Promise, class Await = decltype(roost_await_in_task(std::declval<Promise&>(), std::declval<T&&>()))>
    Await in_task(Promise& me) && {
        return roost_await_in_task(me, std::move(inner_));
    }

    decltype(auto) next()
        requires ext::stream<T>
    {
        return inner_.next();
    }
    [[nodiscard]] roost::ext::size_hint size_hint() const
        requires detail::has_size_hint<T>
    {
        return inner_.size_hint();
    }

    [[nodiscard]] auto begin()
        requires std::ranges::range<T>
    {
        return std::ranges::begin(inner_);
    }
    [[nodiscard]] auto begin() const
        requires std::ranges::range<const T>
    {
        return std::ranges::begin(inner_);
    }
    [[nodiscard]] auto end()
        requires std::ranges::range<T>
    {
        return std::ranges::end(inner_);
    }
    [[nodiscard]] auto end() const
        requires std::ranges::range<const T>
    {
        return std::ranges::end(inner_);
    }
    [[nodiscard]] auto size() const
        requires std::ranges::sized_range<const T>
    {
        return std::ranges::size(inner_);
    }

    decltype(auto) read_some(std::span<std::byte> buffer)
        requires ext::byte_reader<T>
    {
        return inner_.read_some(buffer);
    }
    decltype(auto) fill_buffer()
        requires ext::buffered_reader<T>
    {
        return inner_.fill_buffer();
    }
    decltype(auto) write_some(std::span<const std::byte> bytes)
        requires ext::byte_writer<T>
    {
        return inner_.write_some(bytes);
    }

    // Returns true if the nodes are the same and the values are equal.
    friend bool operator==(const guarded& a, const guarded& b)
        requires std::equality_comparable<T>
    {
        return a.guard_ == b.guard_ && a.inner_ == b.inner_;
    }

private:
    T inner_;
    roost::guard guard_;
};

}  // namespace roost::inline ROOST_ABI
