#pragma once

// Awaiting a task: what counts as one, and the awaiter of `co_await task`, which runs it in the same job.

#include <roost/task/detail/frame/burial.hpp>
#include <roost/task/detail/frame/give_way.hpp>
#include <roost/task/detail/frame/promise_base.hpp>
#include <roost/task/detail/frame/transfer.hpp>
#include <roost/task/detail/job/region.hpp>

#include <coroutine>
#include <cstdint>
#include <type_traits>

namespace roost::inline ROOST_ABI {
template <class T>
class task;
}

namespace roost::inline ROOST_ABI::detail {

// A call that becomes a task only where one is needed; awaited directly it needs no frame. It derives from the task<T> that
// it stands for, so that it is deduced as one. The base is private, so that it is never converted to one.
struct task_like {};
template <class C>
concept makes_task = std::is_base_of_v<task_like, C> && !std::is_reference_v<C>;

// Base of awaitables that only a task can await. Awaiting one in another coroutine type does not compile, with a message.
class task_only {
public:
    template <class Awaiting = void>
    [[nodiscard]] bool await_ready() const noexcept {
        static_assert(
            !std::is_void_v<Awaiting>,
            "only a roost::task can await this; in another coroutine type write co_await awaitable_on(some_task(), "
            "executor) (roost/task/driven.hpp), in a plain function run(some_task())");
        return true;
    }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise>) const noexcept {}
    void await_resume() const noexcept {}
};

// In checked builds: reports misuse if a task is destroyed that was neither awaited nor launched.
[[gnu::cold]] void task_dropped(const promise_base& frame) noexcept;
// Ends the program if the task refers to an object that was on the stack below its awaiter and is gone.
[[gnu::cold]] void refuse_gone_argument(const promise_base& frame, const promise_base& awaiter, const void* below) noexcept;
// Only where frame pointers lead to the awaiting body. The explorer's threads have small stacks, side by side.
#if defined(ROOST_SEAM_MODEL) || defined(__OPTIMIZE__) || !ROOST_CHECKED || !(defined(__x86_64__) || defined(__aarch64__))
inline constexpr bool finds_gone_arguments = false;
[[nodiscard]] inline const void* stack_of_awaiter() noexcept { return nullptr; }
#else
inline constexpr bool finds_gone_arguments = true;
// Walks from the frame of this function over those of the awaiter's constructor and await_transform() to the body's. With
// more frames in between, or without frame pointers, the result is a lower address, and fewer mistakes are found.
[[nodiscard, gnu::noinline]] inline const void* stack_of_awaiter() noexcept {
    auto at = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    for (int callers = 0; callers < 3; ++callers) {
        const std::uintptr_t next = *reinterpret_cast<const std::uintptr_t*>(at);
        if (next <= at || next - at > (std::uintptr_t(1) << 16U)) {
            break;
        }
        at = next;
    }
    return reinterpret_cast<const void*>(at);
}
#endif

template <class T>
inline constexpr bool is_task = std::is_base_of_v<task_like, T>;
template <class T>
inline constexpr bool is_task<task<T>> = true;

// The awaiter of `co_await task`. Holds the result; owns the child's frame until the child has ended.
template <class T, transfer Mode>
class task_await final : private result_link<T> {
public:
    task_await(promise_base& me, promise_base& child) noexcept : child_(&child) {
        if constexpr (finds_gone_arguments) {
            if (child.borrowed() != nullptr) [[unlikely]] {
                refuse_gone_argument(child, me, stack_of_awaiter());
            }
        }
        this->set_waiter(me);
    }
    [[gnu::always_inline]] ~task_await() {
        if (!this->is_over() && !this->is_abandoned()) [[unlikely]] {
            drop_unstarted(*child_);
        }
    }

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    auto await_suspend(std::coroutine_handle<Promise> self) noexcept -> typename transfer_to<Mode>::result {
        promise_base& me = self.promise();
        if (me.region().is_cancelled_relaxed()) [[unlikely]] {
            unwind_frame(me);
            return transfer_to<Mode>::none();
        }
        child_->attach(*this, me.region());
        return start_child<Mode>(me, *child_);
    }
    [[gnu::always_inline]] T await_resume() {
        if constexpr (!result_link<T>::needs_destruction) {
            if (this->has_plainly_returned()) [[likely]] {
                this->set_over();
                child_->handle().destroy();
                return this->take_value();
            }
        }
        if (!this->is_abandoned()) [[likely]] {
            this->abandon();
            child_->handle().destroy();
        }
        return this->take();
    }

private:
    promise_base* child_;
};

}  // namespace roost::inline ROOST_ABI::detail
