#pragma once

// Three threads, two calls each, drawn by the search; every history must be one of a small sequential specification. Bounded
// search first, then a random walk.

#include <roost/base/atomic.hpp>
#include <roost/testing/explore_gtest.hpp>

#include "linearizable.hpp"

#include "../sync/coroutines.hpp"

#include <coroutine>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <type_traits>
#include <utility>

namespace testing_support {

inline constexpr int cancelled = -1;

// A wait of a coroutine, recorded when it is resumed. Answer: what `read` makes of the result.
template <class Operation>
class recorded_wait {
public:
    template <class Read>
    recorded_wait(history& h, int what, Operation op, Read read, int argument = 0)
        : history_(&h), place_(h.begin(what, argument)), argument_(argument), op_(std::move(op)) {
        coroutine_ = run(*this, read);
    }
    recorded_wait(const recorded_wait&) = delete;
    recorded_wait& operator=(const recorded_wait&) = delete;
    // Answered by the cancel, unless it had been delivered.
    void cancel() {
        if (op_.try_cancel()) {
            history_->end(place_, cancelled);
        }
    }
    // When all is quiet: if it still waits, that is recorded as a call of its own, after everything else. The wait itself
    // has not returned, so a wake that was lost is no early cancel.
    void leave(int what) {
        if (op_.try_cancel()) {
            history_->end(history_->begin(what, argument_), 0);
        }
    }

private:
    class by_reference {
    public:
        explicit by_reference(Operation& o) noexcept : op_(&o) {}
        bool await_ready() { return op_->await_ready(); }
        bool await_suspend(std::coroutine_handle<sync_testing::owned::promise_type> h) noexcept {
            return op_->await_suspend(h);
        }
        decltype(auto) await_resume() { return op_->await_resume(); }

    private:
        Operation* op_;
    };
    template <class Read>
    static sync_testing::owned run(recorded_wait& self, Read read) {
        if constexpr (std::is_void_v<decltype(self.op_.await_resume())>) {
            co_await by_reference(self.op_);
            self.history_->end(self.place_, read());
        } else {
            auto result = co_await by_reference(self.op_);
            self.history_->end(self.place_, read(result));
        }
    }

    history* history_;
    std::size_t place_;
    int argument_;
    Operation op_;
    sync_testing::owned coroutine_;
};

// One thread's waits; they outlive the thread, because somebody else may be resuming them.
template <class Operation>
using waits = std::deque<recorded_wait<Operation>>;

inline constexpr int threads = 3;
inline constexpr int calls_each = 2;

// Who still waits in the end.
template <class Operation>
void leave_all(waits<Operation> (&waiting)[threads], int what) {
    for (auto& mine : waiting) {
        for (auto& one : mine) {
            one.leave(what);
        }
    }
}

// Runs `call(h, thread, which)` in three threads, with what to call drawn by the search, then `finish()`, then the check.
template <class Call, class Finish, class State, class Apply>
void try_histories(std::uint32_t kinds, Call call, Finish finish, State start, Apply apply) {
    history h(3 * threads * calls_each);
    std::uint32_t plan[threads][calls_each];
    for (auto& mine : plan) {
        for (std::uint32_t& one : mine) {
            one = roost::testing::choose(kinds);
        }
    }
    const auto body = [&](int me) {
        for (const std::uint32_t one : plan[me]) {
            call(h, me, one);
        }
    };
    {
        roost::thread a([&] { body(1); });
        roost::thread b([&] { body(2); });
        body(0);
        a.join();
        b.join();
    }
    finish();
    const bool explained = is_linearizable(h, start, apply);
    if (!explained) {
        for (const recorded_call& c : h.calls()) {
            std::printf("  call %d(%d) -> %d, from %ld to %ld\n", c.what, c.argument, c.answer, c.called,
                        c.returned == no_return ? -1 : c.returned);
        }
    }
    roost::testing::check(explained, "the history has no sequential explanation");
}

inline void both_searches(const std::function<void()>& body) {
    using roost::testing::options;
    using roost::testing::search;
    options bounded;
    bounded.preemption_bound = 2;
    bounded.memory = roost::testing::memory::sc;
    EXPECT_EXPLORED(bounded, body);
    options walk;
    walk.search = search::random;
    walk.memory = roost::testing::memory::sc;
    EXPECT_EXPLORED(walk, body);
}

}  // namespace testing_support
