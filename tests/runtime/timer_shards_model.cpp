#include <roost/runtime/detail/timer_shards.hpp>
#include <roost/testing/explore_gtest.hpp>

#include <memory>

// Firing against disarming against destroying, and arming against the keeper's sleep.

namespace {

namespace rt = roost::testing;
using namespace roost;
using namespace roost::ext;
using namespace roost::seam;

struct alarm : timer {
    alarm()
        : timer(+[](timer& t) noexcept {
              auto& me = static_cast<alarm&>(t);
              me.fired.set(me.fired.get() + 1);
          }) {}
    plain<int> fired{0};
};

constexpr time_point soon{std::chrono::milliseconds(1)};
constexpr time_point later{std::chrono::milliseconds(5)};

// The owner destroys its timer as soon as disarm() has returned, whatever it said.
MODEL_COMPLETE(timer_shards, RUN_20_fire_or_disarm_or_destroy) {
    detail::bell bell;
    detail::timer_shard shard;
    shard.ringer = &bell;
    auto* t = new alarm;
    t->set_deadline(soon);
    rt::check(shard.arm(*t), "open");
    thread keeper([&] { shard.advance(later); });
    const bool stopped = shard.disarm(*t);
    rt::check(t->fired.get() == (stopped ? 0 : 1), "true: it never fires; false: it has fired and fired() is over");
    delete t;
    keeper.join();
}

MODEL_COMPLETE(timer_shards, RUN_20_two_timers_one_disarmed) {
    detail::bell bell;
    detail::timer_shard shard;
    shard.ringer = &bell;
    alarm a;
    alarm b;
    a.set_deadline(soon);
    b.set_deadline(soon);
    rt::check(shard.arm(a) && shard.arm(b), "open");
    thread keeper([&] { shard.advance(later); });
    const bool stopped = shard.disarm(b);
    rt::check(b.fired.get() == (stopped ? 0 : 1), "true: it never fires; false: it has fired and fired() is over");
    keeper.join();
    rt::check(a.fired.get() == 1 && !shard.disarm(a), "the other one has fired");
}

// The keeper sleeps without a deadline; arming has to wake it.
MODEL_COMPLETE(timer_shards, RUN_21_arm_or_sleep) {
    detail::bell bell;
    detail::timer_shard shard;
    shard.ringer = &bell;
    alarm t;
    t.set_deadline(soon);
    thread keeper([&] {
        for (;;) {
            const std::uint32_t heard = bell.listen();
            const time_point next = shard.advance(time_point());
            if (next != no_deadline) {
                shard.advance(later);
                return;
            }
            bell.sleep(heard);
        }
    });
    rt::check(shard.arm(t), "open");
    keeper.join();
    rt::check(t.fired.get() == 1, "not lost");
}

// RUN-150: what the timer wakes ends everything while the thread that armed it is still inside arm().
MODEL_COMPLETE(timer_shards, RUN_150_arm_then_end) {
    auto bell = std::make_unique<detail::bell>();
    auto shard = std::make_unique<detail::timer_shard>();
    shard->ringer = bell.get();
    alarm t;
    t.set_deadline(soon);
    thread armer([&at = *shard, &t] { rt::check(at.arm(t), "open"); });
    while (shard->advance(later), t.fired.get() == 0) {
        yield_thread();
    }
    shard.reset();
    bell.reset();
    armer.join();
}

MODEL_COMPLETE(timer_shards, RUN_22_close_or_arm) {
    detail::bell bell;
    detail::timer_shard shard;
    shard.ringer = &bell;
    alarm t;
    t.set_deadline(soon);
    bool accepted = false;
    thread owner([&] { accepted = shard.arm(t); });
    const std::size_t left = shard.close();
    owner.join();
    rt::check(left == (accepted ? 1U : 0U), "refused, or counted as left");
    rt::check(shard.disarm(t), "it has not fired and will not");
}

// The closing thread may destroy what timers refer to: what has fired is over, and nothing fires later.
MODEL_COMPLETE(timer_shards, RUN_120_close_or_fire) {
    detail::bell bell;
    detail::timer_shard shard;
    shard.ringer = &bell;
    alarm a;
    alarm b;
    a.set_deadline(soon);
    b.set_deadline(soon);
    rt::check(shard.arm(a) && shard.arm(b), "open");
    thread keeper([&] { shard.advance(later); });
    const std::size_t left = shard.close();
    rt::check(static_cast<std::size_t>(a.fired.get() + b.fired.get()) + left == 2, "each has fired and is over, or is left");
    keeper.join();
    rt::check(static_cast<std::size_t>(a.fired.get() + b.fired.get()) + left == 2, "nothing fires later");
}

}  // namespace
