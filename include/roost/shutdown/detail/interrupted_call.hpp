#pragma once

#include <roost/base/config.hpp>

#include <coroutine>
#include <functional>
#include <type_traits>
#include <utility>

// An operation of a stream, reader or writer that only a task can await: next(), read_some() and so on return a task, or an await
// that lives in tasks. Stop cancels it and waits for its end. The operation then returns the end of its kind: an empty
// optional, a null pointer, zero bytes, an empty span. Stores the result of `until_stop`; this layer does not include tasks.

namespace roost::inline ROOST_ABI::detail {

// Await returns an optional, which is empty if stop came first.
template <class Await>
class [[nodiscard]] interrupted_call_await final {
    using kept = typename decltype(std::declval<Await&>().await_resume())::value_type;
    using result = std::remove_cvref_t<std::unwrap_reference_t<kept>>;

public:
    template <class Call, class Promise>
    interrupted_call_await(Call&& call, Promise& me) : inner_(std::forward<Call>(call).in_task(me)) {}

    [[nodiscard]] bool await_ready() { return inner_.await_ready(); }
    template <class Promise>
    auto await_suspend(std::coroutine_handle<Promise> self) {
        return inner_.await_suspend(self);
    }
    result await_resume() {
        auto got = inner_.await_resume();
        return got ? result(std::move(*got)) : result();
    }

private:
    Await inner_;
};

template <class Call>
class [[nodiscard]] interrupted_call final {
public:
    explicit interrupted_call(Call&& call) : call_(std::move(call)) {}
    // Await's type contains the chain of frames, so it is part of this function's mangled name.
    template <class Promise, class Await = decltype(std::declval<Call&&>().in_task(std::declval<Promise&>()))>
    interrupted_call_await<Await> in_task(Promise& me) && {
        return interrupted_call_await<Await>(std::move(call_), me);
    }

private:
    Call call_;
};

// True if a value must be awaited in a task: it is a coroutine, or has in_task(). This layer does not include tasks.
struct any_promise {
    template <class Promise>
    operator Promise&() const noexcept;
};
template <class X>
concept for_tasks = requires { typename std::remove_cvref_t<X>::promise_type; } ||
                    requires(std::remove_cvref_t<X>&& x, any_promise me) { std::move(x).in_task(me); };

}  // namespace roost::inline ROOST_ABI::detail
