#include <roost/task/as_outcome.hpp>
#include <roost/task/job_local.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/timeout.hpp>
#include <roost/task/with_note.hpp>

#include "rig.hpp"

#include <string>
#include <vector>

namespace {

using namespace roost;
using namespace std::chrono_literals;
using rig::stage;

constexpr job_local<std::string> request;
constexpr job_local<int> depth;
constexpr job_local<int> other;

using log = std::vector<std::string>;

task<> note(log& out) {
    const std::string* id = co_await request.find();
    const int* d = co_await depth.find();
    const int* o = co_await other.find();
    EXPECT_EQ(o, nullptr);
    out.push_back((id == nullptr ? "none" : *id) + "/" + (d == nullptr ? "none" : std::to_string(*d)));
}
task<> in_scope(scope& s, log& out) {
    s.launch("child", note(out));
    co_return;
}
task<> nested(log& out) {
    co_await note(out);
    co_await with_scope(in_scope, std::ref(out));
    co_await with_value(depth, 1, note(out));
    co_await with_value(request, std::string("inner"), note(out));
    co_await fail_after(1s, note(out));
    co_await note(out);
}
task<> outside(log& out) {
    co_await note(out);
    co_await with_value(request, std::string("outer"), nested(out));
    co_await note(out);
}

TEST(job_local, JOB_67_values_come_with_the_place_in_the_tree) {
    stage s;
    log out;
    s.play(outside(out));
    EXPECT_EQ(out, (log{"none/none", "outer/none", "outer/none", "outer/1", "inner/none", "outer/none", "outer/none",
                        "none/none"}));
}

task<int> gives() { co_return 5; }
task<int> throws_inside() {
    throw std::runtime_error("inside");
    co_return 1;
}
task<> never_ends() { co_await sleep_for(1h); }

TEST(job_local, JOB_67_results_errors_and_cancellation_pass_through) {
    stage s;
    int got = 0;
    bool threw = false;
    const auto run = [](int& g, bool& t) -> task<> {
        g = co_await with_value(depth, 1, gives());
        try {
            static_cast<void>(co_await with_value(depth, 1, throws_inside()));
        } catch (const std::runtime_error&) {
            t = true;
        }
        co_await with_value(depth, 1, never_ends());
    };
    const job j = s.play(run(got, threw));
    EXPECT_EQ(got, 5);
    EXPECT_TRUE(threw);
    j.cancel();
    s.run();
    EXPECT_EQ(j.state(), job_state::cancelled);
}

task<> around_scopes(log& out) {
    co_await with_value(request, std::string("r"), with_scope(in_scope, std::ref(out)));
    co_await with_note("loading", with_scope(in_scope, std::ref(out)));
}
TEST(job_local, TASK_174_with_value_and_with_note_take_whatever_a_task_can_await) {
    stage s;
    log out;
    s.play(around_scopes(out));
    EXPECT_EQ(out, (log{"r/none", "none/none"}));
}

TEST(job_local, JOB_67_keys_are_told_apart) {
    constexpr static job_local<int> a;
    constexpr static job_local<int> b;
    EXPECT_NE(static_cast<const void*>(&a), static_cast<const void*>(&b));
}

}  // namespace
