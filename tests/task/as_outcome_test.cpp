#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/with_note.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

using namespace roost;

namespace {

task<std::unique_ptr<int>> good() { co_return std::make_unique<int>(4); }
task<int> bad() {
    throw std::invalid_argument("no");
    co_return 0;
}
task<> nothing() { co_return; }

task<> look_at_ends(int& value, std::string& what, bool& done) {
    auto fine = co_await as_outcome(good());
    if (fine.has_value()) {
        value = *fine.value();
    }
    auto failed = co_await as_outcome(bad());
    try {
        static_cast<void>(std::move(failed).value_or_throw());
    } catch (const std::invalid_argument& e) {
        what = e.what();
    }
    auto empty = co_await as_outcome(nothing());
    done = empty.has_value();
}

TEST(as_outcome, TASK_19_value_and_error_arrive_as_data) {
    rig::stage s;
    int value = 0;
    std::string what;
    bool done = false;
    s.play(look_at_ends(value, what, done));
    EXPECT_EQ(value, 4);
    EXPECT_EQ(what, "no");
    EXPECT_TRUE(done);
}

task<> wait_for(event& e) { co_await e.wait(); }
task<> swallow(event& e, bool& went_on) {
    auto ended = co_await as_outcome(wait_for(e));
    went_on = true;
}

TEST(as_outcome, TASK_19_a_job_cannot_swallow_its_own_cancellation) {
    rig::stage s;
    event e;
    bool went_on = false;
    const job j = s.play(swallow(e, went_on));
    j.cancel();
    s.run();
    EXPECT_FALSE(went_on);
    EXPECT_EQ(j.state(), job_state::cancelled);
}

task<> cancelled_child(scope& s, event& e, reason_kind& why, bool& cancelled_seen) {
    auto child = s.async("child", wait_for(e));
    child.cancel(reason(reason_kind::lost_race, "too slow"));
    auto ended = co_await as_outcome(std::move(child));
    cancelled_seen = ended.is_cancelled();
    why = ended.why().kind();
}
task<> in_scope(event& e, reason_kind& why, bool& seen) {
    co_await with_scope(cancelled_child, std::ref(e), std::ref(why), std::ref(seen));
}

TEST(as_outcome, TASK_19_another_jobs_cancellation_is_data) {
    rig::stage s;
    event e;
    reason_kind why = reason_kind::none;
    bool seen = false;
    const job j = s.play(in_scope(e, why, seen));
    EXPECT_TRUE(seen);
    EXPECT_EQ(why, reason_kind::lost_race);
    EXPECT_EQ(j.state(), job_state::completed);
}

task<> outcome_of_awaitables(event& e, bool& ok) {
    auto got = co_await as_outcome(e.wait());
    ok = got.has_value();
}

TEST(as_outcome, TASK_19_anything_that_can_be_awaited_has_an_outcome) {
    rig::stage s;
    event e("e", true);
    bool ok = false;
    s.play(outcome_of_awaitables(e, ok));
    EXPECT_TRUE(ok);
}

task<> traced_then_outcome(bool& failed) {
    auto got = co_await as_outcome(with_note("outer note", with_note("inner note", bad())));
    failed = got.has_error();
}

TEST(as_outcome, TASK_29_modifiers_compose_and_notes_are_kept_innermost_first) {
    rig::stage s;
    bool failed = false;
    const job j = s.play(traced_then_outcome(failed));
    EXPECT_TRUE(failed);
    const auto notes = j.notes();
    ASSERT_EQ(notes.size(), 2U);
    EXPECT_EQ(notes[0].find("inner note ("), 0U) << notes[0];
    EXPECT_NE(notes[0].find("as_outcome_test.cpp:"), std::string::npos) << notes[0];
    EXPECT_NE(notes[1].find("outer note"), std::string::npos);
}

}  // namespace
