#pragma once

#include <roost/shutdown/concepts.hpp>
#include <roost/shutdown/detail/abandoned_await.hpp>
#include <roost/shutdown/detail/interrupted_await.hpp>
#include <roost/sync/event.hpp>

#include <exception>

// How interrupt() treats an awaitable without try_cancel(). The caller chooses one of the two wrappers:
//
//   interrupt(finish(x))    stop is checked before x starts; once started, x is awaited to its end
//   interrupt(abandon(x))   stop ends the wait; x keeps running detached, and its result is discarded. x is moved out of the
//                           awaiting coroutine, so x must not refer to anything that coroutine may destroy.

namespace roost::inline ROOST_ABI {

template <class A>
class finish {
public:
    explicit finish(A inner) : inner_(std::move(inner)) {}
    [[nodiscard]] A& inner() noexcept { return inner_; }

private:
    A inner_;
};

// Makes any awaitable cancellable: try_cancel() ends the wait, while the inner awaitable keeps running. Awaiting allocates
// the shared state and the frame of a detached coroutine. Returns or throws what the inner awaitable returns or throws.
template <class A>
class [[nodiscard]] abandon {
    using result = detail::awaited_result<A>;
    using state = detail::abandoned_state<result>;

public:
    explicit abandon(A inner) : inner_(std::in_place, std::move(inner)) {}
    // Requires that other has not been awaited.
    abandon(abandon&& other) noexcept : inner_(std::move(other.inner_)) {}
    ~abandon() {
        wait_.reset();
        if (state_ != nullptr) {
            state_->drop();
        }
    }

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    ROOST_AWAIT_SUSPEND bool await_suspend(std::coroutine_handle<Promise> handle) {
        state_ = new state;
        wait_.emplace(state_->done.wait());
        detail::run_abandoned<A, result>(std::move(*inner_), state_, ext::executor_of(handle));
        return !wait_->await_ready() && wait_->await_suspend(handle);
    }
    result await_resume() {
        wait_->await_resume();
        if (state_->error) {
            std::rethrow_exception(state_->error);
        }
        if constexpr (std::is_reference_v<result>) {
            return static_cast<result>(state_->value->get());
        } else if constexpr (!std::is_void_v<result>) {
            return *std::move(state_->value);
        }
    }
    bool try_cancel() noexcept { return wait_->try_cancel(); }
    [[nodiscard]] ext::wait_target waits_on() const noexcept { return {"abandoned await", ""}; }

private:
    std::optional<A> inner_;
    state* state_ = nullptr;
    std::optional<event::operation> wait_;
};

}  // namespace roost::inline ROOST_ABI
