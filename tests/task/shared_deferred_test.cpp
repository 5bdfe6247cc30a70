#include <roost/sync/event.hpp>
#include <roost/task/ignore.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/shared_deferred.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/timeout.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace roost;

namespace {

task<std::string> produce(event& e, int& runs) {
    ++runs;
    co_await e.wait();
    co_return "made";
}
task<> get(shared_deferred<std::string> from, std::vector<const std::string*>& seen) {
    const std::string& value = co_await from;
    EXPECT_EQ(value, "made");
    seen.push_back(&value);
}
task<> share(scope& s, event& e, int& runs, std::vector<const std::string*>& seen, std::vector<job>& getters,
             getter_cancel how, job& producer) {
    const shared_deferred<std::string> shared(s.async("producer", produce(e, runs)), how);
    producer = shared.as_job();
    for (int i = 0; i < 3; ++i) {
        getters.push_back(s.launch("getter", get(shared, seen)));
    }
    co_await producer.join();
    for (const job& g : getters) {
        co_await g.join();
    }
}
class fixture {
public:
    fixture() = default;
    task<> run(getter_cancel how) {
        co_await with_scope(share, std::ref(e), std::ref(runs), std::ref(seen), std::ref(getters), how, std::ref(producer));
    }
    event e;
    int runs = 0;
    std::vector<const std::string*> seen;
    std::vector<job> getters;
    job producer;
};

TEST(shared_deferred, TASK_36_one_computation_many_getters_one_value) {
    rig::stage s;
    fixture f;
    s.play(f.run(getter_cancel::stays_here));
    f.e.set();
    s.run();
    EXPECT_EQ(f.runs, 1);
    ASSERT_EQ(f.seen.size(), 3U);
    EXPECT_EQ(f.seen[0], f.seen[2]) << "it is the same object";
}

TEST(shared_deferred, TASK_36_a_cancelled_getter_leaves_the_others_and_the_producer_alone) {
    rig::stage s;
    fixture f;
    s.play(f.run(getter_cancel::stays_here));
    f.getters[1].cancel();
    s.run();
    EXPECT_EQ(f.getters[1].state(), job_state::cancelled);
    EXPECT_FALSE(f.producer.cancel_requested());
    f.e.set();
    s.run();
    EXPECT_EQ(f.seen.size(), 2U);
}

task<> get_in_time(shared_deferred<std::string> from, std::vector<const std::string*>& seen, bool& timed_out) {
    const bool in_time = co_await move_on_after(std::chrono::seconds(1), get(std::move(from), seen));
    timed_out = !in_time;
}
task<> share_with_hasty(scope& s, event& e, int& runs, std::vector<const std::string*>& seen, bool& timed_out, job& producer,
                        getter_cancel how) {
    const shared_deferred<std::string> shared(s.async("producer", produce(e, runs)), how);
    producer = shared.as_job();
    const job hasty = s.launch("hasty", get_in_time(shared, seen, timed_out));
    const job patient = s.launch("patient", get(shared, seen));
    co_await hasty.join();
    co_await patient.join();
}
task<> run_hasty(event& e, int& runs, std::vector<const std::string*>& seen, bool& timed_out, job& producer) {
    co_await with_scope(share_with_hasty, std::ref(e), std::ref(runs), std::ref(seen), std::ref(timed_out),
                        std::ref(producer), getter_cancel::stays_here);
}

TEST(shared_deferred, TASK_36_a_getter_that_times_out_leaves_the_producer_running) {
    rig::stage s;
    event e;
    int runs = 0;
    std::vector<const std::string*> seen;
    bool timed_out = false;
    job producer;
    const job all = s.play(run_hasty(e, runs, seen, timed_out, producer));
    s.advance(std::chrono::seconds(1));
    EXPECT_TRUE(timed_out);
    EXPECT_EQ(producer.state(), job_state::active);
    EXPECT_FALSE(producer.cancel_requested());
    e.set();
    s.run();
    EXPECT_EQ(seen.size(), 1U) << "the patient one";
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(all.state(), job_state::completed);
}

task<> get_when_cancelled(shared_deferred<std::string> from, event& go, std::vector<const std::string*>& seen) {
    const job me = co_await this_job();
    {
        const auto held = co_await ignore_cancellation();
        co_await go.wait();
        static_cast<void>(held);
    }
    EXPECT_TRUE(me.cancel_requested());
    const std::string& value = co_await from;
    seen.push_back(&value);
}
task<> share_ready(scope& s, event& e, event& go, int& runs, std::vector<const std::string*>& seen, job& producer,
                   job& getter) {
    const shared_deferred<std::string> shared(s.async("producer", produce(e, runs)));
    producer = shared.as_job();
    getter = s.launch("getter", get_when_cancelled(shared, go, seen));
    co_await getter.join();
    co_await get(shared, seen);
}
task<> run_ready(event& e, event& go, int& runs, std::vector<const std::string*>& seen, job& producer, job& getter) {
    co_await with_scope(share_ready, std::ref(e), std::ref(go), std::ref(runs), std::ref(seen), std::ref(producer),
                        std::ref(getter));
}

TEST(shared_deferred, TASK_36_a_cancelled_getter_is_cancelled_although_the_value_is_ready) {
    rig::stage s;
    event e;
    event go;
    int runs = 0;
    std::vector<const std::string*> seen;
    job producer;
    job getter;
    s.play(run_ready(e, go, runs, seen, producer, getter));
    e.set();
    s.run();
    EXPECT_EQ(producer.state(), job_state::completed) << "the value is ready before anybody asks";
    getter.cancel();
    go.set();
    s.run();
    EXPECT_EQ(getter.state(), job_state::cancelled);
    EXPECT_EQ(seen.size(), 1U) << "the next getter is served";
}

TEST(shared_deferred, TASK_36_unless_it_was_asked_to_reach_the_producer) {
    rig::stage s;
    fixture f;
    s.play(f.run(getter_cancel::reaches_producer));
    f.getters[1].cancel();
    s.run();
    EXPECT_EQ(f.producer.state(), job_state::cancelled);
    EXPECT_EQ(f.getters[0].state(), job_state::cancelled) << "it awaited a cancelled child";
    EXPECT_TRUE(f.seen.empty());
}

}  // namespace
