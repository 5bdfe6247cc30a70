#pragma once

#include <roost/shutdown/abandon.hpp>
#include <roost/shutdown/detail/concepts.hpp>
#include <roost/shutdown/detail/interrupted_await.hpp>
#include <roost/shutdown/detail/interrupted_call.hpp>
#include <roost/shutdown/detail/interrupted_range.hpp>
#include <roost/shutdown/detail/unawaited_calls.hpp>
#include <roost/shutdown/guard.hpp>
#include <roost/tree/token.hpp>

// Wraps a T so that it ends when its node is stopped.
//
//   awaitable, task          co_await returns std::optional: empty if stop came first
//   stream, generator        next() returns the end
//   range                    iteration ends
//   reader, buffered reader  returns zero bytes, or an empty buffer
//   writer                   accepts zero bytes; flush() and close() are always forwarded, so buffered bytes are written
//
// Checking for stop is one load. Stop also ends a pending wait on an awaitable with try_cancel(), or on a task. That holds for
// co_await and for awaitables returned by next(), read_some() and so on. A task is cancelled and awaited to its end; this
// needs roost/task/until_stop.hpp. A generator that is stopped inside next() has therefore ended. An awaitable without
// try_cancel() must be wrapped in finish() or abandon(). For a function that blocks its thread, stop is checked before each
// call.
//
// An interrupt does not own the node and is not work. It also ends when the node can no longer be stopped, because its last
// owner is gone.

namespace roost::inline ROOST_ABI {

template <class T, bool HasExecutor = false>
class interrupt : public detail::unawaited_calls<interrupt<T, HasExecutor>, T> {
    using node_pointer = detail::node_ref<detail::shutdown_node>;

public:
    template <class U>
    interrupt(U&& inner, detail::shutdown_node& watched)
        : inner_(std::forward<U>(inner)), node_(node_pointer::share(watched)) {}
    template <class U>
    interrupt(U&& inner, node_pointer watched, roost::guard held, executor_ref where)
        : inner_(std::forward<U>(inner)), node_(std::move(watched)), guard_(std::move(held)), where_(where) {}

    // Returns the interrupt with a guard. The guard is empty if the node's last owner is gone.
    [[nodiscard]] interrupt guarded(std::source_location where = std::source_location::current()) && {
        guard_ = guard_unless_gone(where);
        return std::move(*this);
    }
    // Sets the executor on which stop resumes a coroutine. Required for coroutine types without an executor.
    [[nodiscard]] interrupt<T, true> on(executor& where) && {
        return interrupt<T, true>(std::move(inner_), std::move(node_), std::move(guard_), where);
    }

    // Returns true if the node is stopped, or its last owner is gone.
    [[nodiscard]] bool is_stopped() const noexcept { return node_->is_terminal(); }
    [[nodiscard]] T& operator*() & noexcept { return inner_; }
    [[nodiscard]] const T& operator*() const& noexcept { return inner_; }
    [[nodiscard]] T* operator->() noexcept { return &inner_; }
    [[nodiscard]] const T* operator->() const noexcept { return &inner_; }
    // Returns the T and drops the guard, if there is one.
    [[nodiscard]] T into_inner() && {
        T out(std::move(inner_));
        guard_.reset();
        return out;
    }

    // For a task awaited in a task: stop cancels it. Lookup finds `until_stop` where the task layer is included.
    template <
        class Promise, class U = T,
        class Await = decltype(until_stop(std::declval<token>(), std::declval<U&&>()).in_task(std::declval<Promise&>()))>
    Await in_task(Promise& me) && {
        return until_stop(token(*node_), std::move(inner_)).in_task(me);
    }

    auto operator co_await() &
        requires detail::awaitable<T&>
    {
        return await_it<T&>(inner_);
    }
    auto operator co_await() &&
        requires detail::awaitable<T&&>
    {
        return await_it<T&&>(std::move(inner_));
    }
    auto operator co_await() &
        requires detail::is_finish<T>
    {
        return see_through(inner_.inner());
    }
    auto operator co_await() &&
        requires detail::is_finish<T>
    {
        return see_through(std::move(inner_.inner()));
    }

    auto next()
        requires ext::stream<T>
    {
        return pass([this]() -> decltype(auto) { return inner_.next(); });
    }
    [[nodiscard]] roost::ext::size_hint size_hint() const
        requires detail::has_size_hint<T>
    {
        return {0, inner_.size_hint().upper};
    }

    [[nodiscard]] auto begin()
        requires std::ranges::range<T>
    {
        return detail::interrupted_begin(inner_, *node_);
    }
    [[nodiscard]] auto begin() const
        requires std::ranges::range<const T>
    {
        return detail::interrupted_begin(inner_, *node_);
    }
    [[nodiscard]] auto end()
        requires std::ranges::range<T>
    {
        return detail::interrupted_end(inner_);
    }
    [[nodiscard]] auto end() const
        requires std::ranges::range<const T>
    {
        return detail::interrupted_end(inner_);
    }
    [[nodiscard]] roost::ext::size_hint size_hint() const
        requires(std::ranges::sized_range<const T> && !detail::has_size_hint<T>)
    {
        return {0, std::ranges::size(inner_)};
    }

    auto read_some(std::span<std::byte> buffer)
        requires ext::byte_reader<T>
    {
        return pass([this, buffer]() -> decltype(auto) { return inner_.read_some(buffer); });
    }
    auto fill_buffer()
        requires ext::buffered_reader<T>
    {
        return pass([this]() -> decltype(auto) { return inner_.fill_buffer(); });
    }
    auto write_some(std::span<const std::byte> bytes)
        requires ext::byte_writer<T>
    {
        return pass([this, bytes]() -> decltype(auto) { return inner_.write_some(bytes); });
    }

    // Returns true if the nodes are the same and the values are equal.
    friend bool operator==(const interrupt& a, const interrupt& b)
        requires std::equality_comparable<T>
    {
        return a.node_ == b.node_ && a.inner_ == b.inner_;
    }

private:
    roost::guard guard_unless_gone(site where) noexcept {
        if (node_->is_gone()) {
            return {};
        }
        roost::guard held = detail::shutdown_access::make_guard(*node_, where);
        return node_->is_gone() ? roost::guard() : std::move(held);
    }

    template <class A, class X>
    auto await_it(X&& x) {
        static_assert(detail::can_be_cancelled<detail::awaiter_of<A>>,
                      "stop can't cancel this awaitable: write interrupt(finish(x)) to await it to its end once it has "
                      "started, or interrupt(abandon(x)) to leave it running detached");
        using how = detail::as_optional<detail::awaited_result<A>>;
        return detail::interrupted_await<A, how, HasExecutor>(std::forward<X>(x), node_, where_);
    }
    template <class A>
    auto see_through(A&& x) {
        return detail::finished_await<A&&, detail::as_optional<detail::awaited_result<A&&>>>(std::forward<A>(x), node_);
    }

    // Calls an operation of the T unless stopped. If the operation returns an awaitable, stop ends the await.
    template <class Call>
    auto pass(Call call) {
        using given = decltype(call());
        if constexpr (detail::withdrawable<given>) {
            using how = detail::as_itself<std::remove_cvref_t<detail::awaited_result<given>>>;
            return detail::interrupted_await<given, how, HasExecutor>(call(), node_, where_);
        } else if constexpr (requires { until_stop(token(*node_), call()); }) {
            return detail::interrupted_call(until_stop(token(*node_), call()));
        } else {
            static_assert(!detail::awaitable<given>, "stop can't cancel this operation: its awaiter has no try_cancel()");
            static_assert(
                !detail::for_tasks<given>,
                "this operation is awaited in tasks: include <roost/task/until_stop.hpp>, so that stop can cancel it");
            using result = std::remove_cvref_t<given>;
            return is_stopped() ? result{} : result(call());
        }
    }

    template <class, bool>
    friend class interrupt;

    T inner_;
    node_pointer node_;
    roost::guard guard_;
    executor_ref where_;
};

}  // namespace roost::inline ROOST_ABI
