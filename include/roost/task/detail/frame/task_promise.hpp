#pragma once

// The promise of a task: where `co_return` puts the result, and which awaiter `co_await x` gets.

#include <roost/exec/detail/awaitable.hpp>
#include <roost/task/detail/closure_check.hpp>
#include <roost/task/detail/frame/await.hpp>
#include <roost/task/detail/frame/promise_base.hpp>
#include <roost/task/detail/frame/task_await.hpp>
#include <roost/task/task.hpp>

#include <coroutine>
#include <cstdint>
#include <exception>
#include <memory>
#include <source_location>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

// Ends the program: the task ended without a result.
[[noreturn, gnu::cold]] void ended_without_result(const promise_base& frame) noexcept;

template <class A>
concept awaits_in_task = requires(A&& a, promise_base& me) { std::forward<A>(a).in_task(me); };

// For layers below task that carry an awaitable and do not know its type.
template <transfer Mode = this_transfer, class T>
[[nodiscard]] task_await<T, Mode> roost_await_in_task(promise_base& me, task<T>&& t) {
    return task_await<T, Mode>(me, task_access::release_frame(t));
}
template <transfer Mode = this_transfer, class A>
    requires awaits_in_task<A&&>
[[nodiscard]] auto roost_await_in_task(promise_base& me, A&& a) -> decltype(std::forward<A>(a).in_task(me)) {
    return std::forward<A>(a).in_task(me);
}

template <class T>
class task_promise_base : public promise_base {
public:
    template <transfer Mode = this_transfer>
    [[nodiscard]] final_await<Mode> final_suspend() const noexcept {
        if constexpr (ROOST_CHECKED != 0 && !std::is_void_v<T>) {
            if (this->link()->state() == ending::none) [[unlikely]] {
                ended_without_result(*this);
            }
        }
        return final_await<Mode>();
    }
    void unhandled_exception() noexcept { this->result().fail(std::current_exception()); }

    template <transfer Mode = this_transfer, class A>
    auto await_transform(A&& a, std::source_location where = std::source_location::current()) {
        using bare = std::remove_cvref_t<A>;
        this->set_await_site(where);
        if constexpr (requires { a.awaited_at(where); }) {
            a.awaited_at(where);
        }
        if constexpr (is_task<bare> && !awaits_in_task<A>) {
            static_assert(!std::is_lvalue_reference_v<A>,
                          "a task runs once, so it is awaited as an rvalue: co_await std::move(t), or co_await make_task()");
            return task_await<typename bare::value_type, Mode>(*this, task_access::release_frame(a));
        } else if constexpr (awaits_in_task<A>) {
            return std::forward<A>(a).in_task(*this);
        } else if constexpr (can_be_cancelled<awaiter_of<A>>) {
            return cancellable_await<awaiter_of<A>>(*this, std::forward<A>(a));
        } else if constexpr (awaits_in_task<bare>) {
            static_assert(!std::is_lvalue_reference_v<A>, "this is awaited once, as an rvalue: co_await std::move(x)");
            return std::suspend_never();
        } else if constexpr (!is_awaiter<awaiter_of<A>>) {
            static_assert(is_awaiter<awaiter_of<A>>,
                          "this cannot be awaited; is it a function that was to be called: co_await f()?");
            return std::suspend_never();
        } else {
            return foreign_await<awaiter_of<A>, Mode>(*this, std::forward<A>(a));
        }
    }

protected:
    [[nodiscard]] result_link<T>& result() const noexcept { return *static_cast<result_link<T>*>(this->link()); }
};

// A closure with captures is an argument that its coroutine refers to. In checked builds every argument is checked.
template <class... Arg>
inline constexpr bool notes_arguments = ROOST_CHECKED != 0 && sizeof...(Arg) != 0;
template <class First, class... Arg>
inline constexpr bool notes_arguments<First, Arg...> = ROOST_CHECKED != 0 || is_closure<First>();

// An argument further from the stack pointer than this is not a temporary of the call.
inline constexpr std::uintptr_t looks_like_stack = std::uintptr_t(1) << 20U;

// Returns an address below every object in the frame of the calling function, also if the coroutine was inlined there.
[[gnu::noinline]] inline const void* below_all_locals() noexcept { return __builtin_frame_address(0); }

template <class... Arg>
[[gnu::always_inline]] inline void note_arguments(promise_base& frame, const Arg&... args) noexcept {
    const auto here = reinterpret_cast<std::uintptr_t>(below_all_locals());
    const auto note = [&]<class A>(const A& arg) {
        const auto at = reinterpret_cast<std::uintptr_t>(std::addressof(arg));
        if (!std::is_empty_v<A> && at - here < looks_like_stack) {
            frame.set_borrowed(reinterpret_cast<const void*>(at));
        }
    };
    (note(args), ...);
}

template <class T>
class task_promise final : public task_promise_base<T> {
public:
    task_promise() noexcept = default;
    template <class... Arg>
        requires notes_arguments<Arg...>
    explicit task_promise(Arg&... args) noexcept {
        note_arguments(*this, args...);
    }
    [[nodiscard]] task<T> get_return_object() noexcept { return task<T>(*this); }

    // A reference result must refer to an object that outlives the frame, so a temporary is not accepted.
    template <class U>
        requires std::is_reference_v<T> && std::is_convertible_v<std::add_pointer_t<U>, std::add_pointer_t<T>>
    void return_value(U&& value) noexcept {
        static_assert(std::is_lvalue_reference_v<U> || std::is_rvalue_reference_v<T>,
                      "a task<T&> must not return a temporary: it would be destroyed before the awaiting coroutine resumes");
        this->result().emplace(value);
    }
    template <class U = T>
        requires(!std::is_reference_v<T>) && std::is_constructible_v<T, U&&>
    void return_value(U&& value) noexcept(std::is_nothrow_constructible_v<T, U&&>) {
        this->result().emplace(std::forward<U>(value));
    }
};

template <>
class task_promise<void> final : public task_promise_base<void> {
public:
    task_promise() noexcept = default;
    template <class... Arg>
        requires notes_arguments<Arg...>
    explicit task_promise(Arg&... args) noexcept {
        note_arguments(*this, args...);
    }
    [[nodiscard]] task<void> get_return_object() noexcept { return task<void>(*this); }
    void return_void() noexcept { result().emplace(); }
};

}  // namespace roost::inline ROOST_ABI::detail
