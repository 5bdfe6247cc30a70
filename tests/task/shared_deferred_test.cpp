#include <roost/sync/event.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/shared_deferred.hpp>

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
