#include <roost/service/detail/host_core.hpp>

#include "memory_sink.hpp"

#include <roost/testing/manual_executor.hpp>

#include <gtest/gtest.h>

#include <memory>

namespace roost::service::detail {
namespace {

class host_core_test : public ::testing::Test {
protected:
    testing::manual_executor executor;
    memory_sink sink;
    host_core core{sink.quiet(), schedule_result::make(budgets()).value(), executor, std::source_location::current()};
};

TEST_F(host_core_test, SVC_28_wishes_add_up_and_are_taken_once) {
    core.wish_for(wish::shut_down, "because");
    core.wish_for(wish::main_ended);
    core.wake().sleep_until(no_deadline);  // hangs without a ring
    const std::uint32_t w = core.take_wishes();
    EXPECT_TRUE(contains(w, wish::shut_down) && contains(w, wish::main_ended));
    EXPECT_FALSE(contains(w, wish::cancel));
    EXPECT_EQ(core.take_why(), "because");
    EXPECT_EQ(core.take_wishes(), 0U);
}

TEST_F(host_core_test, SVC_6_reloads_run_one_at_a_time_and_none_is_forgotten) {
    EXPECT_FALSE(core.reload());
    int runs = 0;
    int at_once = 0;
    core.set_reload([&]() -> task<> {
        EXPECT_EQ(++at_once, 1);
        if (++runs == 1) {
            EXPECT_TRUE(core.reload());  // while it runs: once more afterwards
            EXPECT_TRUE(core.reload());
        }
        --at_once;
        co_return;
    });
    EXPECT_TRUE(core.reload());
    EXPECT_EQ(runs, 0);
    executor.run_all();
    EXPECT_EQ(runs, 2);
    EXPECT_TRUE(core.reload());
    executor.run_all();
    EXPECT_EQ(runs, 3);
}

TEST_F(host_core_test, SVC_80_a_text_of_several_lines_is_several_calls) {
    core.log_lines(severity::info, "> ", "one\ntwo\n\nfour");
    core.flush_log(no_deadline);
    EXPECT_EQ(sink.lines(), (std::vector<std::string>{"> one", "> two", "> ", "> four"}));
}

TEST_F(host_core_test, SVC_60_ready_is_over_with_the_first_phase) {
    core.set_ready(true);
    EXPECT_TRUE(core.is_ready());
    core.set_phase(phase::lame_duck);
    EXPECT_FALSE(core.is_ready());
    EXPECT_TRUE(core.said_ready());
}

}  // namespace
}  // namespace roost::service::detail
