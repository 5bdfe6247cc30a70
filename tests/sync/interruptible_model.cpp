// A wake, a stop and the registration of the wait, in every order (SYNC-60 .. SYNC-65).

#include <roost/sync/event.hpp>
#include <roost/sync/interruptible.hpp>
#include <roost/sync/waiter_queue.hpp>
#include <roost/testing/explore_gtest.hpp>

#include "coroutines.hpp"

namespace {

using roost::event;
using roost::ext::claim;
using roost::seam::atomic;
using roost::seam::plain;
using roost::seam::thread;
using roost::testing::check;
using sync_testing::hand_executor;
using sync_testing::hosted;
namespace mo = roost::seam::mo;

// A stop request that the model fires from another thread; like a std::stop_callback, disarm() waits out a running one.
class switch_state {
public:
    void fire(claim as) noexcept {
        lock_.lock();
        fired_ = as;
        if (function_ != nullptr) {
            function_(self_, as);
        }
        lock_.unlock();
    }
    void arm(roost::detail::interrupt_call::function f, void* self) noexcept {
        lock_.lock();
        function_ = f;
        self_ = self;
        if (fired_ != claim::idle) {
            f(self, fired_);
        }
        lock_.unlock();
    }
    void disarm() noexcept {
        lock_.lock();
        function_ = nullptr;
        lock_.unlock();
    }

private:
    roost::seam::small_mutex lock_;
    roost::detail::interrupt_call::function function_ = nullptr;
    void* self_ = nullptr;
    claim fired_ = claim::idle;
};

class model_source {
public:
    [[maybe_unused]] static constexpr bool has_own_executor = false;
    explicit model_source(switch_state& s) noexcept : switch_(&s) {}
    [[nodiscard]] roost::executor_ref executor_or(roost::executor_ref promises) const noexcept { return promises; }
    void arm(roost::detail::interrupt_call::function f, void* self, roost::executor_ref) noexcept { switch_->arm(f, self); }
    void disarm() noexcept { switch_->disarm(); }

private:
    switch_state* switch_;
};

using operation = roost::detail::interruptible<event::operation, model_source>;

hosted wait(hand_executor&, event& e, switch_state& s, plain<int>& data, plain<int>& woken, plain<int>& stopped) {
    auto result = co_await operation(e.wait(), model_source(s));
    if (result) {
        woken.set(woken.get() + data.get());
    } else {
        stopped.set(stopped.get() + 1);
    }
}

// The wake comes from another thread, at any moment of the registration, straight to the coroutine's executor.
MODEL_COMPLETE(interruptible_model, early_wake) {
    hand_executor executor;
    event e;
    switch_state never;
    plain<int> data{0};
    plain<int> woken{0};
    plain<int> stopped{0};
    thread waker([&] {
        data.set(1);
        e.set();
        executor.run();
    });
    {
        hosted h = wait(executor, e, never, data, woken, stopped);
        waker.join();
        executor.run();
        check(h.done(), "SYNC-60: it is resumed, once");
    }
    check(woken.get() == 1 && stopped.get() == 0, "SYNC-60");
}

MODEL_COMPLETE(interruptible_model, early_stop) {
    hand_executor executor;
    event e;
    switch_state stop;
    plain<int> data{1};
    plain<int> woken{0};
    plain<int> stopped{0};
    thread stopper([&] {
        stop.fire(claim::cancelled);
        executor.run();
    });
    hosted h = wait(executor, e, stop, data, woken, stopped);
    stopper.join();
    executor.run();
    check(h.done() && stopped.get() == 1 && woken.get() == 0, "SYNC-61: a stop is never missed");
    check(e.waiters_now() == 0, "");
}

bool never() noexcept { return false; }

// The same over a queue that looks at the claim before it takes its lock.
MODEL_COMPLETE(interruptible_model, early_stop_of_a_queue) {
    hand_executor executor;
    roost::waiter_queue queue;
    switch_state stop;
    plain<int> stopped{0};
    thread stopper([&] {
        stop.fire(claim::cancelled);
        executor.run();
    });
    hosted h = [](hand_executor&, roost::waiter_queue& q, switch_state& s, plain<int>& n) -> hosted {
        using waits = roost::waiter_queue::operation<bool (*)() noexcept>;
        auto result = co_await roost::detail::interruptible<waits, model_source>(q.wait_unless(&never), model_source(s));
        n.set(n.get() + (result ? 10 : 1));
    }(executor, queue, stop, stopped);
    stopper.join();
    executor.run();
    check(h.done() && stopped.get() == 1, "SYNC-61: a stop is never missed");
    check(queue.size_approx() == 0, "");
}

MODEL_COMPLETE(interruptible_model, wake_vs_stop) {
    hand_executor executor;
    event e;
    switch_state stop;
    plain<int> data{1};
    plain<int> woken{0};
    plain<int> stopped{0};
    hosted h = wait(executor, e, stop, data, woken, stopped);
    thread stopper([&] { stop.fire(claim::expired); });
    e.set();
    stopper.join();
    check(executor.run() == 1, "SYNC-60: posted once");
    check(h.done() && woken.get() + stopped.get() == 1, "SYNC-60: exactly one of them wins");
}

}  // namespace
