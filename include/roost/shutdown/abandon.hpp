#pragma once

#include <roost/shutdown/concepts.hpp>
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

namespace detail {

// State shared by a detached await and its waiter.
template <class R>
class abandoned_state {
public:
    event done{"abandoned await"};
    std::exception_ptr error;
    std::optional<kept_t<R>> value;

    void drop() noexcept {
        if (holders_.fetch_sub(1, mo::acq_rel) == 1) {  // B1
            delete this;
        }
    }

private:
    // id  operation          order    pairs  carries                                    fails in
    // B1  drop: fetch_sub    acq_rel  B1     the other's accesses end before delete     abandon_model: either_last
    atomic<std::uint32_t> holders_{2};
};

// A detached coroutine: it starts at once and frees itself at its end.
class bridge_coroutine {
public:
    class promise_type {
    public:
        template <class A, class S>
        promise_type(A&, S&, const executor_ref& where) noexcept : where_(where) {}
        static void* operator new(std::size_t size) { return allocate_frame(size); }
        static void operator delete(void* memory, std::size_t size) noexcept { deallocate_frame(memory, size); }
        [[nodiscard]] bridge_coroutine get_return_object() noexcept { return {}; }
        [[nodiscard]] std::suspend_never initial_suspend() noexcept { return {}; }
        [[nodiscard]] std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::terminate(); }
        [[nodiscard]] executor_ref get_executor() const noexcept { return where_; }

    private:
        executor_ref where_;
    };
};

template <class A, class R>
bridge_coroutine run_abandoned(A inner, abandoned_state<R>* state, [[maybe_unused]] executor_ref where) {
    try {
        if constexpr (std::is_void_v<R>) {
            co_await std::move(inner);
            state->value.emplace();
        } else {
            state->value.emplace(co_await std::move(inner));
        }
    } catch (...) {
        state->error = std::current_exception();
    }
    state->done.set();
    state->drop();
}

}  // namespace detail

// Makes any awaitable cancellable: try_cancel() ends the wait, while the inner awaitable keeps running. Awaiting allocates the
// shared state and the frame of a detached coroutine. Returns or throws what the inner awaitable does.
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
        detail::run_abandoned<A, result>(std::move(*inner_), state_, executor_of(handle));
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
    [[nodiscard]] wait_target waits_on() const noexcept { return {"abandoned await", ""}; }

private:
    std::optional<A> inner_;
    state* state_ = nullptr;
    std::optional<event::operation> wait_;
};

}  // namespace roost::inline ROOST_ABI
