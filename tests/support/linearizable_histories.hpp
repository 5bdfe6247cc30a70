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

inline constexpr int threads = 3;
inline constexpr int calls_each = 2;
inline constexpr int places = threads * calls_each;

// The waits of all threads; they outlive the threads, because somebody else may be resuming them.
template <class Operation>
class waits {
public:
    // How many thread `me` has begun.
    [[nodiscard]] std::size_t begun(int me) const { return of_[me].size(); }
    // The next wait of thread `me`, among all that there can be.
    [[nodiscard]] int place_of(int me) const { return calls_each * me + static_cast<int>(begun(me)); }

    // Thread `me` begins to wait with what `start` gives, and cancels that at once if it `cancels`.
    template <class Start, class Read>
    void begin(history& h, int me, int what, bool cancels, Start start, Read read, int argument = 0) {
        auto& one = of_[me].emplace_back(h, what, start(), std::move(read), argument);
        if (cancels) {
            one.cancel();
        }
    }
    // A wait with two moments, recorded as two calls: getting in line, with what `start` gives, and being let through. Both have
    // their place as their argument.
    template <class Start, class Read>
    void begin_in_line(history& h, int me, int in, int pass, bool cancels, Start start, Read read) {
        const int who = place_of(me);
        h.record(in, who, [&] { of_[me].emplace_back(h, pass, start(), std::move(read), who); });
        if (cancels) {
            of_[me].back().cancel();
        }
    }

    // When all is quiet: whoever still waits is recorded so, or cancelled.
    void leave_all(int what) {
        for_each([&](auto& one) { one.leave(what); });
    }
    void cancel_all() {
        for_each([](auto& one) { one.cancel(); });
    }

private:
    template <class Do>
    void for_each(Do tell) {
        for (auto& mine : of_) {
            for (auto& one : mine) {
                tell(one);
            }
        }
    }

    std::deque<recorded_wait<Operation>> of_[threads];
};

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
        roost::seam::thread a([&] { body(1); });
        roost::seam::thread b([&] { body(2); });
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
