#pragma once

// What the tests of this layer share.

#include <roost/base/atomic.hpp>
#include <roost/exec/executor.hpp>
#include <roost/exec/timer.hpp>

#include <coroutine>
#include <exception>
#include <functional>
#include <utility>

namespace runtime_tests {

using namespace roost;
using namespace roost::ext;
using namespace roost::observe;
using namespace roost::seam;

// Work that runs a closure. Lives until it has run.
struct call : work {
    explicit call(std::function<void()> f)
        : work(+[](work& w) noexcept { static_cast<call&>(w).body(); }), body(std::move(f)) {}
    std::function<void()> body;
};

struct test_timer : timer {
    explicit test_timer(std::function<void()> f = {})
        : timer(+[](timer& t) noexcept {
              auto& me = static_cast<test_timer&>(t);
              ++me.count;
              if (me.body) {
                  me.body();
              }
          }),
          body(std::move(f)) {}
    std::function<void()> body;
    int count = 0;
};

// Blocks until it was counted down to zero.
struct countdown {
    atomic<std::uint32_t> left;
    explicit countdown(std::uint32_t n) : left(n) {}
    void down() {
        if (left.fetch_sub(1, mo::acq_rel) == 1) {
            wake_on(&left, 1000);
        }
    }
    void wait() {
        for (std::uint32_t seen = left.load(mo::acquire); seen != 0; seen = left.load(mo::acquire)) {
            wait_on(left, seen);
        }
    }
};

// A detached coroutine that starts at once and resumes on the given executor: the simplest foreign type.
struct detached {
    struct promise_type {
        executor_ref where;
        promise_type() = default;
        template <class... Rest>
        explicit promise_type(executor_ref e, Rest&...) : where(e) {}
        [[nodiscard]] executor_ref get_executor() const noexcept { return where; }
        detached get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::terminate(); }
    };
};

}  // namespace runtime_tests
