#pragma once

// task<T>: a coroutine that runs in somebody's job.
//
//   task<std::string> load(std::string key) {
//       auto row = co_await database.find(key);      // a checkpoint: here a cancelled job ends, and nothing below runs
//       co_return row.text();
//   }
//
// Lazy: nothing runs until it is awaited (in the same job, as a plain call) or launched (as a job of its own). Awaiting it
// costs a frame and no more: no node, no lock, no reference count. T may be void, a reference or move-only. The frame, with
// its locals and arguments, is destroyed before whoever awaited it goes on; the result is kept by the awaiting side, so a
// task<T&> must not return a reference to its own parameters or locals.
//
// A cancelled await does not come back: the frames of the job are destroyed, innermost first, on the job's executor, and the
// outcome `cancelled` goes to whoever joins it. Destructors run, catch blocks do not. See on_exit for asynchronous cleanup.

#include <roost/task/detail/await.hpp>
#include <roost/task/detail/promise.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI {

template <class T>
class task;

namespace detail {

template <class T>
class task_promise;

// A call that makes a task only where one is needed: awaited as it is, it does without a frame. It derives from the task<T>
// that it stands for, so that it is deduced as one; privately, so that it is never mistaken for one.
struct task_like {};
template <class C>
concept makes_task = std::is_base_of_v<task_like, C> && !std::is_reference_v<C>;

template <class T>
inline constexpr bool is_task = std::is_base_of_v<task_like, T>;
template <class T>
inline constexpr bool is_task<task<T>> = true;

// What `co_await task` waits in. Holds the result; owns the child's frame until the child is done with it.
template <class T, transfer Mode>
class task_await final : private result_link<T> {
public:
    task_await(promise_base& me, promise_base& child) noexcept : child_(&child) { this->set_waiter(me); }
    [[gnu::always_inline]] ~task_await() {
        if (!this->is_over() && !this->is_abandoned()) [[unlikely]] {
            child_->handle().destroy();  // never started
        }
    }

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    auto await_suspend(std::coroutine_handle<Promise> self) noexcept -> typename transfer_to<Mode>::result {
        promise_base& me = self.promise();
        if (me.where().is_cancelled()) [[unlikely]] {
            unwind_frame(me);
            return transfer_to<Mode>::nobody();
        }
        child_->attach(*this, me.where());
        return transfer_to<Mode>::frame(child_->handle());
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
class [[nodiscard("a task does nothing until it is awaited or launched")]] task {
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

    // False when it was moved from: awaited, launched, or given to another owner.
    [[nodiscard]] explicit operator bool() const noexcept { return frame_ != nullptr; }

    // For this layer: whoever takes the frame destroys it.
    [[nodiscard]] detail::promise_base& release_frame() noexcept {
        if (frame_ == nullptr) [[unlikely]] {
            panic("this task was used before: it has been awaited, launched or moved from");
        }
        return *std::exchange(frame_, nullptr);
    }

private:
    friend class detail::task_promise<T>;
    explicit task(detail::promise_base& frame) noexcept : frame_(&frame) {}
    void reset() noexcept {
        if (frame_ != nullptr) {
            std::exchange(frame_, nullptr)->handle().destroy();
        }
    }

    detail::promise_base* frame_ = nullptr;
};

namespace detail {

template <class A>
concept awaits_in_task = requires(A&& a, promise_base& me) { std::forward<A>(a).in_task(me); };

// For what carries something else to be awaited, in layers that know no task.
template <transfer Mode = this_transfer, class T>
[[nodiscard]] task_await<T, Mode> await_in_task(promise_base& me, task<T>&& t) {
    return task_await<T, Mode>(me, t.release_frame());
}
template <class A>
    requires awaits_in_task<A&&>
[[nodiscard]] auto await_in_task(promise_base& me, A&& a) -> decltype(std::forward<A>(a).in_task(me)) {
    return std::forward<A>(a).in_task(me);
}

template <class T>
class task_promise_base : public promise_base {
public:
    template <transfer Mode = this_transfer>
    [[nodiscard]] final_await<Mode> final_suspend() const noexcept {
        return final_await<Mode>();
    }
    void unhandled_exception() noexcept { this->result().fail(std::current_exception()); }

    template <transfer Mode = this_transfer, class A>
    auto await_transform(A&& a) {
        using bare = std::remove_cvref_t<A>;
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
        } else if constexpr (!has_await_resume<awaiter_of<A>>) {
            static_assert(has_await_resume<awaiter_of<A>>,
                          "this cannot be awaited; is it a function that was to be called: co_await f()?");
            return std::suspend_never();
        } else {
            return foreign_await<awaiter_of<A>, Mode>(*this, std::forward<A>(a));
        }
    }

protected:
    [[nodiscard]] result_link<T>& result() const noexcept { return *static_cast<result_link<T>*>(this->link()); }
};

template <class T>
class task_promise final : public task_promise_base<T> {
public:
    [[nodiscard]] task<T> get_return_object() noexcept { return task<T>(*this); }

    // A reference result has to refer to something that outlives the frame, so a temporary is not accepted.
    template <class U>
        requires std::is_reference_v<T> && std::is_convertible_v<std::add_pointer_t<U>, std::add_pointer_t<T>>
    void return_value(U&& value) noexcept {
        static_assert(std::is_lvalue_reference_v<U> || std::is_rvalue_reference_v<T>,
                      "a task<T&> must not return a temporary: it would be gone before anybody sees it");
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
    [[nodiscard]] task<void> get_return_object() noexcept { return task<void>(*this); }
    void return_void() noexcept { result().emplace(); }
};

}  // namespace detail

}  // namespace roost::inline ROOST_ABI
