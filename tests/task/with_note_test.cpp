#include <roost/task/with_note.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

using namespace roost;

namespace {

task<int> works() { co_return 1; }
task<int> fails() {
    throw std::length_error("long");
    co_return 0;
}
task<> traced(bool& own_type) {
    static_cast<void>(co_await with_note("fine", works()));
    try {
        static_cast<void>(co_await with_note("reading the header", fails()));
    } catch (const std::length_error&) {
        own_type = true;
    }
}

TEST(with_note, TASK_29_notes_only_what_fails_and_keeps_the_type) {
    rig::stage s;
    bool own_type = false;
    const job j = s.play(traced(own_type));
    EXPECT_TRUE(own_type);
    ASSERT_EQ(j.notes().size(), 1U);
    EXPECT_EQ(j.notes().front().find("reading the header ("), 0U) << j.notes().front();
    EXPECT_NE(j.notes().front().find("with_note_test.cpp:"), std::string::npos) << j.notes().front();
}

task<> fine() { static_cast<void>(co_await with_note("fine", works())); }

TEST(with_note, TASK_29_a_job_in_which_nothing_fails_has_no_notes) {
    rig::stage s;
    const job j = s.play(fine());
    EXPECT_EQ(j.state(), job_state::completed);
    EXPECT_TRUE(j.notes().empty());
}

}  // namespace
