// The primitive is gone when a woken waiter is cancelled: nothing of it is touched (SYNC-174).

#include <roost/sync/auto_reset_event.hpp>
#include <roost/sync/barrier.hpp>
#include <roost/sync/channel.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/latch.hpp>
#include <roost/sync/once.hpp>
#include <roost/sync/waiter_queue.hpp>
#include <roost/testing/explore_gtest.hpp>

#include "coroutines.hpp"

#include <optional>
#include <utility>

namespace {

using namespace roost;
using namespace roost::ext;
using namespace roost::seam;  // NOLINT: nearly every primitive is named here
using roost::testing::check;
using sync_testing::hand_executor;

template <class Primitive>
class gone {
public:
    template <class... Args>
    explicit gone(Args... args) : what_(new(allocate(sizeof(Primitive), alignof(Primitive))) Primitive(args...)) {}
    gone(const gone&) = delete;
    gone& operator=(const gone&) = delete;
    ~gone() { destroy(); }

    Primitive& operator*() noexcept { return *what_; }
    void destroy() noexcept {
        if (Primitive* p = std::exchange(what_, nullptr)) {
            p->~Primitive();
            deallocate(p, sizeof(Primitive), alignof(Primitive));
        }
    }

private:
    Primitive* what_;
};

// Woken and destroyed here, cancelled there as soon as it is gone.
template <class Primitive, class Operation, class Wake>
void cancel_when_gone(gone<Primitive>& on, Operation operation, Wake wake) {
    plain<int> ran{0};
    hand_executor executor;
    const auto run = +[](work& node) noexcept {
        auto& n = *static_cast<plain<int>*>(static_cast<waiter&>(node).frame());
        n.set(n.get() + 1);
    };
    check(operation.start(resume_target(&ran, run, executor)), "it waits");
    atomic<bool> is_gone{false};
    thread canceller([&] {
        while (!is_gone.load(mo::acquire)) {
            yield_thread();
        }
        check(!operation.try_cancel(), "SYNC-174: the wake has claimed it");
    });
    wake(*on);
    on.destroy();
    is_gone.store(true, mo::release);
    canceller.join();
    check(executor.run() == 1 && ran.get() == 1, "SYNC-174: it runs once");
    static_cast<void>(operation.await_resume());
}

MODEL_COMPLETE(gone_model, event) {
    gone<event> e;
    cancel_when_gone(e, (*e).wait(), [](event& on) { on.set(); });
}
MODEL_COMPLETE(gone_model, latch) {
    gone<latch> l(1U);
    cancel_when_gone(l, (*l).wait(), [](latch& on) { on.count_down(); });
}
MODEL_COMPLETE(gone_model, barrier) {
    gone<barrier> b(2U);
    cancel_when_gone(b, (*b).arrive_and_wait(), [](barrier& on) { static_cast<void>(on.arrive()); });
}
MODEL_COMPLETE(gone_model, auto_reset_event) {
    gone<auto_reset_event> e;
    cancel_when_gone(e, (*e).wait(), [](auto_reset_event& on) { on.set(); });
}
MODEL_COMPLETE(gone_model, once) {
    gone<once> o;
    once::turn mine = (*o).try_enter();
    cancel_when_gone(o, (*o).enter(), [&](once&) { mine.done(); });
}
MODEL_COMPLETE(gone_model, channel_receiver) {
    gone<channel<int>> c(0U);
    cancel_when_gone(c, (*c).receive(), [](channel<int>& on) { check(static_cast<bool>(on.try_send(1)), "it waits"); });
}
MODEL_COMPLETE(gone_model, channel_sender) {
    gone<channel<int>> c(0U);
    cancel_when_gone(c, (*c).send(1), [](channel<int>& on) { check(static_cast<bool>(on.try_receive()), "it waits"); });
}
MODEL_COMPLETE(gone_model, channel_end) {
    gone<channel<int>> c(0U);
    cancel_when_gone(c, (*c).receive(), [](channel<int>& on) { on.close(); });
}

// A select that lost is unlinked by another thread, while it leaves itself: what it then does with the memory is its own.
MODEL_COMPLETE(gone_model, dropped_alternative) {
    const auto never = +[]() noexcept { return false; };
    using operation = waiter_queue::operation<bool (*)() noexcept>;
    waiter_queue from;
    waiter_queue later;
    detail::choice decided;
    const int elsewhere = 0;
    std::optional<operation> losing(std::in_place, from, never);
    const resume_target target(decided, +[](work&) noexcept { check(false, "JOB-55: it lost"); }, {});
    check(losing->start(target) && decided.try_win(&elsewhere), "");
    thread waker([&] { check(!from.wake_one(), "nobody is there to be woken"); });
    static_cast<void>(losing->try_cancel());
    losing->node().finish();
    losing.emplace(later, never);
    detail::choice again;
    check(losing->start(resume_target(again, +[](work&) noexcept {}, {})), "");
    waker.join();
    check(losing->try_cancel() && from.size_approx() == 0, "");
    losing->node().finish();
}

}  // namespace
