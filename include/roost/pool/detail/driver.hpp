#pragma once

// Runs an awaitable to its end for an owner that is no coroutine: a pool that creates and destroys resources. It does not
// know tasks. It drives anything that a plain coroutine can co_await, and anything that awaitable_on(x, where) makes
// awaitable (found by argument-dependent lookup: task/driven.hpp has one for tasks).
//
//   drive(where, make, done)    calls make(), awaits what it returns, then calls done(outcome) once; never throws, unless
//                               there is no memory for the frame (then nothing has been called). The outcome is in an optional:
//                               done resets it before it reports an end after which no destructor of a value may run
//   drive(where, make, done, started)   and started(node) when the awaitable begins a job: that node cancels it
//
// It starts at once on the calling thread and may end there. It is resumed on `where`, or without one on the thread that
// wakes it. It has no handle: everything it uses must live until `done` has been called.

#include <roost/base/atomic.hpp>
#include <roost/base/outcome.hpp>
#include <roost/exec/detail/awaitable.hpp>
#include <roost/exec/executor.hpp>
#include <roost/tree/detail/node.hpp>

#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

template <class A>
concept needs_executor = requires(A&& a, executor_ref where) { awaitable_on(std::forward<A>(a), where); };
template <class A>
concept can_be_driven = awaitable<A> || needs_executor<A>;

template <class A>
struct driven_result_of {
    static decltype(auto) awaiter(A&& a) {
        if constexpr (needs_executor<A>) {
            return awaitable_on(std::forward<A>(a), executor_ref());
        } else {
            return get_awaiter(std::forward<A>(a));
        }
    }
    using type = awaiter_result<decltype(awaiter(std::declval<A>()))>;
};
template <class A>
using driven_result = typename driven_result_of<A>::type;

class driver {
public:
    class promise_type {
    public:
        template <class... Args>
        explicit promise_type(executor_ref where, Args&&...) noexcept : where_(where) {}
        [[nodiscard]] executor_ref get_executor() const noexcept { return where_; }
        driver get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::terminate(); }  // only `done` is outside the try block

        static void* operator new(std::size_t size) { return allocate_frame(size); }
        static void operator delete(void* memory, std::size_t size) noexcept { deallocate_frame(memory, size); }

    private:
        executor_ref where_;
    };
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsubobject-linkage"  // g++ means the frame, when the user's functions are local to a file
#endif

struct nothing_started {
    void operator()(node&) const noexcept {}
};

template <class Make, class Done, class Started = nothing_started>
driver drive([[maybe_unused]] executor_ref where, Make make, Done done, [[maybe_unused]] Started started = {}) {
    using made = decltype(make());
    using result = std::remove_cvref_t<driven_result<made>>;
    std::optional<outcome<result>> ended;
    try {
        if constexpr (needs_executor<made>) {
            auto running = awaitable_on(make(), where);
            if constexpr (requires { started(running.begin()); }) {
                started(running.begin());
            }
            if constexpr (std::is_void_v<result>) {
                co_await running;
                ended.emplace(std::in_place);
            } else {
                auto&& value = co_await running;
                ended.emplace(std::in_place, std::forward<decltype(value)>(value));
            }
        } else if constexpr (std::is_void_v<result>) {
            co_await make();
            ended.emplace(std::in_place);
        } else {
            auto&& value = co_await make();
            ended.emplace(std::in_place, std::forward<decltype(value)>(value));
        }
    } catch (...) {
        ended.emplace(std::current_exception());
    }
    done(ended);
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

}  // namespace roost::inline ROOST_ABI::detail
