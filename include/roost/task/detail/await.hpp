#pragma once

// What `co_await x` becomes inside a task.
//
//   a task                          runs it in the same job: task/task.hpp
//   one of this layer's own         x.in_task(promise)
//   an awaiter with try_cancel()    cancellable_await: abandoned when the region is cancelled
//   anything else                   foreign_await: can't be abandoned; checked before and after
//
// Every one of them starts with a checkpoint: in a cancelled region the await does not begin and the frame unwinds.

#include <roost/exec/resume.hpp>
#include <roost/sync/detail/wait_operation.hpp>
#include <roost/task/detail/bridge.hpp>
#include <roost/task/detail/region.hpp>

#include <concepts>
#include <optional>

namespace roost::inline ROOST_ABI::detail {

template <class A>
concept has_member_co_await = requires(A&& a) { std::forward<A>(a).operator co_await(); };
template <class A>
concept has_free_co_await = requires(A&& a) { operator co_await(std::forward<A>(a)); };

template <class A>
decltype(auto) get_awaiter(A&& a) {
    if constexpr (has_member_co_await<A>) {
        return std::forward<A>(a).operator co_await();
    } else if constexpr (has_free_co_await<A>) {
        return operator co_await(std::forward<A>(a));
    } else {
        return std::forward<A>(a);
    }
}
// By value when operator co_await makes one, else a reference to what the expression keeps alive.
template <class A>
using awaiter_of = decltype(get_awaiter(std::declval<A>()));

template <class Awaiter>
concept has_await_resume = requires(std::remove_reference_t<Awaiter>& a) { a.await_resume(); };

template <class Awaiter>
concept can_be_cancelled = requires(std::remove_reference_t<Awaiter>& a) {
    { a.try_cancel() } noexcept -> std::same_as<bool>;
};

// --- Roost's own waits -------------------------------------------------------------------------------------------------

template <class Awaiter>
class cancellable_await final : private cancellable {
public:
    template <class A>
    cancellable_await(promise_base& me, A&& a) : cancellable(me, functions), inner_(get_awaiter(std::forward<A>(a))) {}

    [[nodiscard]] bool await_ready() { return !frame().where().is_cancelled() && inner_.await_ready(); }

    template <class Promise>
    ROOST_AWAIT_SUSPEND bool await_suspend(std::coroutine_handle<Promise> self) {
        region& in = frame().where();
        if (in.is_cancelled()) [[unlikely]] {
            unwind_frame(frame());
            return true;
        }
        promise_base& me = frame();
        if constexpr (requires { inner_.waits_on(); }) {
            label_ = inner_.waits_on();
        }
        suspended_ = true;
        if (!publish(self)) {
            suspended_ = false;
            return false;
        }
        if (in.commit(*this)) [[unlikely]] {
            unwind_frame(me);
        }
        return true;
    }

    decltype(auto) await_resume() {
        if (suspended_) {
            frame().where().disarm(*this);
        }
        return inner_.await_resume();
    }

private:
    template <class Promise>
    bool publish(std::coroutine_handle<Promise> self) {
        using result = decltype(inner_.await_suspend(self));
        static_assert(std::is_void_v<result> || std::is_same_v<result, bool>,
                      "an awaiter with try_cancel() must not transfer control: its await_suspend returns void or bool");
        try {
            if constexpr (std::is_void_v<result>) {
                inner_.await_suspend(self);
                return true;
            } else {
                return inner_.await_suspend(self);
            }
        } catch (...) {
            suspended_ = false;
            throw;
        }
    }

    static bool cancel_inner(cancellable& self) noexcept {
        return static_cast<cancellable_await&>(self).inner_.try_cancel();
    }
    static wait_target label_of(const cancellable& self) noexcept {
        return static_cast<const cancellable_await&>(self).label_;
    }
    static constexpr wait_functions functions{&cancel_inner, &label_of};

    Awaiter inner_;
    wait_target label_;
    bool suspended_ = false;
};

// --- foreign awaitables ------------------------------------------------------------------------------------------------

template <class Awaiter, transfer Mode>
class foreign_await final : private foreign_wait {
    using result_type = decltype(std::declval<std::remove_reference_t<Awaiter>&>().await_resume());

public:
    template <class A>
    foreign_await(promise_base& me, A&& a)
        : foreign_wait(
              me, +[](foreign_wait& self) noexcept { return static_cast<foreign_await&>(self).discard(); }),
          inner_(get_awaiter(std::forward<A>(a))) {}

    [[nodiscard]] bool await_ready() {
        if (frame().where().is_cancelled()) {
            return false;
        }
        began_ = true;
        if (!inner_.await_ready()) {
            return false;
        }
        ready_ = true;
        return !frame().where().is_cancelled();
    }

    template <class Promise>
    auto await_suspend(std::coroutine_handle<Promise> self) -> typename transfer_to<Mode>::result {
        using result = decltype(inner_.await_suspend(std::coroutine_handle<bridge_promise>()));
        if (!began_ || ready_) [[unlikely]] {
            return end_cancelled(self);
        }
        const std::coroutine_handle<bridge_promise> resumes_us = make_bridge(*this);
        begin();
        try {
            if constexpr (std::is_void_v<result>) {
                inner_.await_suspend(resumes_us);
                return transfer_to<Mode>::nobody();
            } else if constexpr (std::is_same_v<result, bool>) {
                if (inner_.await_suspend(resumes_us)) {
                    return transfer_to<Mode>::nobody();
                }
            } else {
                return transfer_to<Mode>::frame(inner_.await_suspend(resumes_us));
            }
        } catch (...) {
            drop_bridge();
            end();
            throw;
        }
        drop_bridge();
        end();
        ready_ = true;
        return end_cancelled(self);
    }

    result_type await_resume() {
        rethrow_if_failed();
        return inner_.await_resume();
    }

private:
    template <class Promise>
    auto end_cancelled(std::coroutine_handle<Promise> self) -> typename transfer_to<Mode>::result {
        if (ready_ && !(frame().where().is_cancelled() && discard())) {
            return transfer_to<Mode>::frame(self);
        }
        unwind_frame(frame());
        return transfer_to<Mode>::nobody();
    }
    // Takes and destroys the result of a completed await. False: it failed, which the body has to see.
    bool discard() noexcept {
        try {
            static_cast<void>(inner_.await_resume());
            return true;
        } catch (...) {
            keep_failure(std::current_exception());
            return false;
        }
    }

    Awaiter inner_;
    bool began_ = false;
    bool ready_ = false;
};

}  // namespace roost::inline ROOST_ABI::detail
