#pragma once

// The frame of a generator: its promise, and the awaiter that asks it for the next value.

#include <roost/task/detail/frame/burial.hpp>
#include <roost/task/detail/frame/give_way.hpp>
#include <roost/task/detail/frame/promise_base.hpp>
#include <roost/task/detail/frame/transfer.hpp>
#include <roost/task/ignore.hpp>
#include <roost/task/on_exit.hpp>
#include <roost/task/task.hpp>

#include <coroutine>
#include <memory>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI {
template <class T>
class generator;
}

namespace roost::inline ROOST_ABI::detail {

template <class T>
inline constexpr bool is_exit_call = false;
template <class Fn, class... Args>
inline constexpr bool is_exit_call<exit_call<Fn, Args...>> = true;

template <class T>
class generator_promise final : public task_promise_base<void> {
public:
    [[nodiscard]] generator<T> get_return_object() noexcept { return generator<T>(*this); }
    void return_void() noexcept {
        value_.reset();
        result().emplace();
    }
    void unhandled_exception() noexcept {
        value_.reset();
        task_promise_base<void>::unhandled_exception();
    }

    // Back to the coroutine that asked.
    template <transfer Mode>
    class yield_await {
    public:
        yield_await() noexcept = default;
        [[nodiscard]] bool await_ready() const noexcept { return false; }
        auto await_suspend(std::coroutine_handle<generator_promise> self) const noexcept ->
            typename transfer_to<Mode>::result {
            generator_promise& me = self.promise();
            if (is_buried(me)) [[unlikely]] {
                unwind_frame(me);
                return transfer_to<Mode>::none();
            }
            promise_base& asking = me.link()->waiter();
            if constexpr (Mode == transfer::counted) {
                if (me.region().is_last_step()) [[unlikely]] {
                    me.region().set_steps(1);  // the next step looks at the clock
                    return transfer_to<Mode>::bounced(asking.handle());
                }
            }
            return transfer_to<Mode>::frame(asking.handle());
        }
        void await_resume() const noexcept {}
    };
    template <class U, transfer Mode = this_transfer>
        requires std::is_constructible_v<T, U&&>
    [[nodiscard]] yield_await<Mode> yield_value(U&& value) {
        value_.emplace(std::forward<U>(value));
        return {};
    }

    template <transfer Mode = this_transfer, class A>
    auto await_transform(A&& a, std::source_location where = std::source_location::current()) {
        static_assert(!is_exit_call<std::remove_cvref_t<A>>, "on_exit is for tasks: a generator ends at no fixed place");
        static_assert(
            !std::is_same_v<std::remove_cvref_t<A>, ignore_call>,
            "ignore_cancellation is for tasks: a generator may be resumed in another region while the guard lives");
        return task_promise_base<void>::template await_transform<Mode>(std::forward<A>(a), where);
    }

    [[nodiscard]] T* value() noexcept { return value_ ? std::addressof(*value_) : nullptr; }
    void forget() noexcept { value_.reset(); }

private:
    std::optional<T> value_;
};

// What asking for the next value waits in. The generator keeps its frame, unless it ends or is unwound meanwhile.
template <class T, transfer Mode>
class next_await final : private result_link<void> {
public:
    explicit next_await(generator<T>& of) noexcept : of_(&of) {}
    ~next_await() {
        if (asked_ && this->is_abandoned()) {
            of_->frame_ = nullptr;  // unwound, and destroyed by that
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
        if (of_->frame_ == nullptr) {
            return start_child<Mode>(me, me);
        }
        this->set_waiter(me);
        asked_ = true;
        of_->frame_->forget();
        of_->frame_->attach(*this, me.region());
        return start_child<Mode>(me, *of_->frame_);
    }
    T* await_resume() {
        if (!asked_) {
            return nullptr;
        }
        if (T* value = of_->frame_->value()) {
            return value;
        }
        std::exchange(of_->frame_, nullptr)->handle().destroy();
        asked_ = false;
        this->take();
        return nullptr;
    }

private:
    generator<T>* of_;
    bool asked_ = false;
};

template <class T>
class next_call {
public:
    explicit next_call(generator<T>& of) noexcept : of_(&of) {}
    template <transfer Mode = this_transfer>
    [[nodiscard]] next_await<T, Mode> in_task(promise_base&) const noexcept {
        return next_await<T, Mode>(*of_);
    }

private:
    generator<T>* of_;
};

}  // namespace roost::inline ROOST_ABI::detail
