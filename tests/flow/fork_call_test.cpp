// Results of all sorts, in tuples and vectors.
#include <roost/flow/detail/group/fork_call.hpp>
#include <roost/flow/race.hpp>
#include <roost/flow/when_all.hpp>

#include "../task/rig.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

using namespace roost;

namespace {

class alignas(64) wide {
public:
    explicit wide(int v) : value(v) {}
    int value;
};

task<wide> make_wide(int v) { co_return wide(v); }
task<std::unique_ptr<int>> make_box(int v) { co_return std::make_unique<int>(v); }
task<int&> refer(int& v) { co_return v; }
task<> nothing() { co_return; }

task<> vectors(int& sum) {
    int target = 5;
    std::vector<task<wide>> all;
    std::vector<task<int&>> references;
    std::vector<task<>> voids;
    for (int i = 0; i < 3; ++i) {
        all.push_back(make_wide(i));
        references.push_back(refer(target));
        voids.push_back(nothing());
    }
    const auto got = co_await when_all(std::move(all));
    for (const wide& w : got) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&w) % alignof(wide), 0U);
        sum += w.value;
    }
    const auto same = co_await when_all(std::move(references));
    for (const auto r : same) {
        EXPECT_EQ(&r.get(), &target);
    }
    const auto none = co_await when_all(std::move(voids));
    EXPECT_EQ(none.size(), 3U);
    auto won = co_await race(make_box(7), make_box(8));
    sum += *won.value();
}

TEST(fork_call, JOB_39_results_of_all_sorts) {
    rig::stage s;
    int sum = 0;
    const job j = s.play(vectors(sum));
    EXPECT_EQ(j.state(), job_state::completed);
    EXPECT_EQ(sum, 10);
}

task<int> tracked_child(rig::tracked) { co_return 1; }

TEST(fork_call, JOB_75_a_call_that_is_not_awaited_destroys_its_tasks) {
    int alive = 0;
    {
        auto call = when_all(tracked_child(rig::tracked(alive)), tracked_child(rig::tracked(alive)));
        EXPECT_EQ(alive, 2);
        static_cast<void>(call);
    }
    EXPECT_EQ(alive, 0);
}

}  // namespace
