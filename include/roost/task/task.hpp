#pragma once

// task<T>: a coroutine that runs in a job.
//
//   task<std::string> load(std::string key) {
//       auto row = co_await database.find(key);      // a checkpoint: here a cancelled job ends, and nothing below runs
//       co_return row.text();
//   }
//
// Lazy: nothing runs until the task is awaited (in the same job, as a plain call) or launched (as a job of its own). Awaiting
// it costs a frame, and no node, lock or reference count. T may be void, a reference or move-only. The frame, with its locals
// and arguments, is destroyed before the awaiting coroutine resumes. The awaiting side keeps the result, so a task<T&> must
// not return a reference to its own parameters or locals.
//
// A cancelled job does not resume from its next await. Its frames are destroyed, innermost first, on the job's executor, and
// joiners see the outcome `cancelled`. Destructors run, catch blocks do not. See on_exit for asynchronous cleanup.

#include <roost/exec/detail/awaitable.hpp>
#include <roost/task/detail/closure_check.hpp>
#include <roost/task/detail/frame/await.hpp>
#include <roost/task/detail/frame/burial.hpp>
#include <roost/task/detail/frame/promise.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI {

template <class T>
class task;

namespace detail {

template <class T>
class task_promise;

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
// Ends the program: the task ended without a result.
[[noreturn, gnu::cold]] void ended_without_result(const promise_base& frame) noexcept;

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
    T await_resume() {
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

}  // namespace detail

template <class T = void>
class [[nodiscard("a task does nothing until it is awaited or launched")]] task : public detail::task_only {
public:
    using promise_type = detail::task_promise<T>;
    using value_type = T;

    task() noexcept = default;
    task(task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
    template <detail::makes_task C>
        requires std::is_base_of_v<task, C>
    explicit(false) task(C&& call) : task(std::move(call).to_task()) {}
    task& operator=(task&& other) noexcept {
        if (this != &other) {
            reset();
            frame_ = std::exchange(other.frame_, nullptr);
        }
        return *this;
    }
    template <detail::makes_task C>
        requires std::is_base_of_v<task, C>
    task& operator=(C&& call) {
        return *this = std::move(call).to_task();
    }
    ~task() { reset(); }

    // Returns false if the task was moved from: awaited, launched, or passed to another owner.
    [[nodiscard]] explicit operator bool() const noexcept { return frame_ != nullptr; }

    // For this layer. Returns the address on the stack that the unstarted frame refers to, null if there is none.
    [[nodiscard]] const void* borrowed() const noexcept { return frame_ == nullptr ? nullptr : frame_->borrowed(); }
    // For this layer. The caller owns the frame from now on.
    [[nodiscard]] detail::promise_base& release_frame() noexcept {
        if (frame_ == nullptr) [[unlikely]] {
            panic("task", {}, site(),
                  "it was used before: it has been awaited, launched or moved from; call the coroutine again");
        }
        return *std::exchange(frame_, nullptr);
    }

private:
    friend class detail::task_promise<T>;
    explicit task(detail::promise_base& frame) noexcept : frame_(&frame) {}
    void reset() noexcept {
        if (frame_ != nullptr) {
            detail::promise_base& unstarted = *std::exchange(frame_, nullptr);
            if constexpr (ROOST_CHECKED != 0) {
                detail::task_dropped(unstarted);
            }
            detail::drop_unstarted(unstarted);
        }
    }

    detail::promise_base* frame_ = nullptr;
};

namespace detail {

template <class A>
concept awaits_in_task = requires(A&& a, promise_base& me) { std::forward<A>(a).in_task(me); };

// For layers below task that carry an awaitable and do not know its type.
template <transfer Mode = this_transfer, class T>
[[nodiscard]] task_await<T, Mode> roost_await_in_task(promise_base& me, task<T>&& t) {
    return task_await<T, Mode>(me, t.release_frame());
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
    auto await_transform(A&& a, [[maybe_unused]] std::source_location where = std::source_location::current()) {
        using bare = std::remove_cvref_t<A>;
        if constexpr (requires { a.awaited_at(where); }) {
            a.awaited_at(where);
        }
        if constexpr (is_task<bare> && !awaits_in_task<A>) {
            static_assert(!std::is_lvalue_reference_v<A>,
                          "a task runs once, so it is awaited as an rvalue: co_await std::move(t), or co_await make_task()");
            return task_await<typename bare::value_type, Mode>(*this, a.release_frame());
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
inline constexpr bool notes_arguments<First, Arg...> =
    ROOST_CHECKED != 0 || (std::is_class_v<First> && !std::is_empty_v<First> && is_closure<First>());

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

}  // namespace detail

}  // namespace roost::inline ROOST_ABI
