// The wait slot: a body that suspends and is resumed, a canceller, a waker.

#include <roost/shutdown/detail/wait_slot.hpp>
#include <roost/testing/explore_gtest.hpp>

#include <memory>

namespace {

using roost::detail::wait_slot;
using roost::testing::check;

// An awaiter as the contract has it: one claim; who wins decides who continues.
struct awaiter {
    roost::seam::atomic<std::uint32_t> claim{0};
    roost::seam::plain<int> alive{1};
    static bool try_cancel(void* p) noexcept {
        auto& self = *static_cast<awaiter*>(p);
        check(self.alive.get() == 1, "TREE-54: the awaiter is alive inside try_cancel");
        std::uint32_t expected = 0;
        return self.claim.compare_exchange_strong(expected, 2, roost::seam::mo::acq_rel, roost::seam::mo::acquire);
    }
    bool try_wake() noexcept {
        std::uint32_t expected = 0;
        return claim.compare_exchange_strong(expected, 1, roost::seam::mo::acq_rel, roost::seam::mo::acquire);
    }
};

struct body_state {
    wait_slot slot;
    std::unique_ptr<awaiter> in = std::make_unique<awaiter>();
    roost::seam::atomic<std::uint32_t> ends{0};
    // What the body does when a wake resumes it: disarm, leave the awaiter, finish.
    void resumed() {
        slot.disarm();
        in->alive.set(0);  // the queue's memory of it may last longer; try_cancel must not come any more
        ends.fetch_add(1, roost::seam::mo::acq_rel);
    }
    void unwound() {
        in->alive.set(0);  // the queue's memory of it may last longer; try_cancel must not come any more
        ends.fetch_add(1, roost::seam::mo::acq_rel);
    }
};

// TREE-54: cancel against suspending.
MODEL_COMPLETE(wait_slot_model, cancel_at_commit) {
    auto body = std::make_unique<body_state>();
    roost::seam::plain<int> why{0};
    roost::seam::thread canceller([b = body.get(), &why] {
        why.set(1);
        if (b->slot.cancel()) {
            b->unwound();
        }
    });
    if (body->slot.is_cancelled()) {
        check(why.get() == 1, "TREE-54: whoever sees the cancel sees what came before it");
    }
    wait_slot::suspension here(body->slot, body->in.get(), &awaiter::try_cancel);
    if (here.commit()) {
        check(why.get() == 1, "TREE-54: the claimer sees what the canceller did before");
        body->unwound();
    }
    canceller.join();
    check(body->slot.is_cancelled(), "TREE-54: sticky");
    check(body->ends.load(roost::seam::mo::acquire) == 1, "TREE-54: a cancelled wait ends, exactly once");
}

// TREE-54: suspend, cancel and wake at once: the body ends exactly once, and the awaiter is never touched after that.
TEST(wait_slot_model, suspend_cancel_wake) {
    roost::testing::explore_all(
        [] {
            auto body = std::make_unique<body_state>();
            awaiter* in = body->in.get();
            wait_slot::suspension here(body->slot, in, &awaiter::try_cancel);
            roost::seam::thread waker([b = body.get(), in] {
                if (in->try_wake()) {
                    b->resumed();
                }
            });
            roost::seam::thread canceller([b = body.get()] {
                if (b->slot.cancel()) {
                    b->unwound();
                }
            });
            if (here.commit()) {
                body->unwound();
            }
            waker.join();
            canceller.join();
            check(body->ends.load(roost::seam::mo::acquire) == 1, "TREE-54: exactly one continuation");
        },
        {.seconds = 20});
}

// TREE-54: a woken body that finishes and frees the slot while the suspending thread has not committed yet.
MODEL_COMPLETE(wait_slot_model, disarm_waits) {
    auto* body = new (roost::seam::allocate(sizeof(body_state))) body_state;
    wait_slot::suspension here(body->slot, body->in.get(), &awaiter::try_cancel);
    roost::seam::thread waker([body, in = body->in.get()] {
        if (in->try_wake()) {
            body->resumed();
            body->~body_state();
            roost::seam::deallocate(body, sizeof(body_state));
        }
    });
    check(!here.commit(), "TREE-54: nobody cancels");
    waker.join();
}

// TREE-54: a canceller inside a losing try_cancel is waited for before the awaiter and the slot go.
MODEL_COMPLETE(wait_slot_model, disarm_waits_for_canceller) {
    auto* body = new (roost::seam::allocate(sizeof(body_state))) body_state;
    wait_slot::suspension here(body->slot, body->in.get(), &awaiter::try_cancel);
    check(!here.commit(), "TREE-54: nobody has cancelled yet");
    roost::seam::plain<int> claimed{0};
    roost::seam::thread canceller([body, &claimed] { claimed.set(body->slot.cancel() ? 1 : 0); });
    if (body->in->try_wake()) {
        body->resumed();
        canceller.join();
        check(claimed.get() == 0, "TREE-54: the wake had claimed it");
    } else {
        canceller.join();
        check(claimed.get() == 1, "TREE-54: the cancel had claimed it");
        body->unwound();
    }
    body->~body_state();
    roost::seam::deallocate(body, sizeof(body_state));
}

// TREE-55: resumed on the suspending thread's own stack, by an executor that runs inline, and freed there.
MODEL_COMPLETE(wait_slot_model, resumed_inside) {
    auto* body = new (roost::seam::allocate(sizeof(body_state))) body_state;
    wait_slot::suspension here(body->slot, body->in.get(), &awaiter::try_cancel);
    check(body->in->try_wake(), "TREE-55: the wake comes first");
    body->resumed();
    body->~body_state();
    roost::seam::deallocate(body, sizeof(body_state));
    check(!here.commit(), "TREE-55: keeps its hands off");
}

}  // namespace
