#pragma once

// A coroutine that is suspended in an operation which the test can reach; it counts its resumption.

#include <roost/base/atomic.hpp>

#include "coroutines.hpp"

#include <utility>

namespace sync_testing {

template <class Operation>
class held_operation {
public:
    held_operation(Operation operation, roost::seam::plain<int>& resumed) : operation_(std::move(operation)) {
        coroutine_ = run(operation_, resumed);
    }
    held_operation(const held_operation&) = delete;
    held_operation& operator=(const held_operation&) = delete;

    [[nodiscard]] Operation& operation() noexcept { return operation_; }
    [[nodiscard]] owned& coroutine() noexcept { return coroutine_; }

private:
    class by_reference {
    public:
        explicit by_reference(Operation& o) noexcept : operation_(o) {}
        bool await_ready() { return operation_.await_ready(); }
        bool await_suspend(std::coroutine_handle<owned::promise_type> h) noexcept { return operation_.await_suspend(h); }
        decltype(auto) await_resume() { return operation_.await_resume(); }

    private:
        Operation& operation_;
    };

    static owned run(Operation& operation, roost::seam::plain<int>& resumed) {
        static_cast<void>(co_await by_reference(operation));
        resumed.set(resumed.get() + 1);
    }

    Operation operation_;
    owned coroutine_;
};

}  // namespace sync_testing
