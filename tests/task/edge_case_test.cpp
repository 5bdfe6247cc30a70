// Every way in which a value travels, with a cancel right before or right after the value.
#include <roost/flow/race.hpp>
#include <roost/flow/select.hpp>
#include <roost/sync/channel.hpp>
#include <roost/sync/semaphore.hpp>
#include <roost/task/deferred.hpp>
#include <roost/task/timeout.hpp>

#include "rig.hpp"

namespace {

using namespace roost;
using namespace std::chrono_literals;
using rig::stage;
using rig::tracked;

task<tracked> make_after(event& e, int& alive) {
    co_await e.wait();
    co_return tracked(alive);
}
task<> take(deferred<tracked> d, int& got) {
    const tracked mine = co_await std::move(d);
    ++got;
}

TEST(edge_case, JOB_70_a_deferred_value) {
    for (const bool cancel_first : {true, false}) {
        int alive = 0;
        int got = 0;
        {
            stage s;
            event e;
            auto made = s.root.async("makes", make_after(e, alive));
            const job taker = s.play(take(std::move(made), got));
            cancel_first ? static_cast<void>(taker.cancel()) : e.set();
            s.executor.run_one();
            cancel_first ? e.set() : static_cast<void>(taker.cancel());
            s.run();
            EXPECT_TRUE(taker.is_finished());
        }
        EXPECT_EQ(alive, 0);
        EXPECT_EQ(got, cancel_first ? 0 : 1) << "the claim decides";
    }
}

task<> receive(channel<tracked>& c, int& got) {
    auto value = co_await c.receive();
    got += value ? 1 : 0;
}

TEST(edge_case, JOB_70_a_value_in_a_channel) {
    for (const bool cancel_first : {true, false}) {
        int alive = 0;
        int got = 0;
        {
            stage s;
            channel<tracked> c(1);
            const job receiver = s.play(receive(c, got));
            if (cancel_first) {
                receiver.cancel();
            }
            EXPECT_TRUE(c.try_send(tracked(alive)));
            receiver.cancel();
            s.run();
            EXPECT_EQ(c.size(), cancel_first ? 1U : 0U) << "delivered, or still there";
            EXPECT_EQ(got, cancel_first ? 0 : 1);
        }
        EXPECT_EQ(alive, 0);
    }
}

task<tracked> make_now(int& alive) { co_return tracked(alive); }
task<> race_them(int& alive) { static_cast<void>(co_await race(make_now(alive), make_now(alive))); }
task<> too_late(event& e, int& alive) { static_cast<void>(co_await move_on_after(1s, make_after(e, alive))); }

TEST(edge_case, JOB_70_the_value_of_a_loser_and_one_that_is_late) {
    int alive = 0;
    {
        stage s;
        s.play(race_them(alive));
        EXPECT_EQ(alive, 0);
        event e;
        const job j = s.start(too_late(e, alive));
        s.run();
        e.set();  // woken, then the deadline passes before it runs
        s.advance(1s);
        EXPECT_TRUE(j.is_finished());
    }
    EXPECT_EQ(alive, 0);
}

}  // namespace
