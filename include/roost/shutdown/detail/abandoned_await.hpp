#pragma once

#include <roost/base/atomic.hpp>
#include <roost/base/detail/result.hpp>
#include <roost/exec/executor.hpp>
#include <roost/sync/event.hpp>

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

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

}  // namespace roost::inline ROOST_ABI::detail
