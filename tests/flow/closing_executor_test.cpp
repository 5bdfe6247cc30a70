#include <roost/flow/closing_executor.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>

#include "../task/rig.hpp"

#include <gtest/gtest.h>

using namespace roost;

namespace {

// Says where it is destroyed.
class local {
public:
    local(executor& home, int& at_home, int& alive) : home_(&home), at_home_(&at_home), counted_(alive) {}
    ~local() { *at_home_ += home_->is_here() ? 1 : 0; }

private:
    executor* home_;
    int* at_home_;
    rig::tracked counted_;
};

task<int> wait_for(event& e, executor& home, int& at_home, int& alive) {
    const local mine(home, at_home, alive);
    co_await e.wait();
    co_return 1;
}
task<> borrow(closing_executor& own, task<int> t, outcome<int>& got) { got = co_await as_outcome(on(own, std::move(t))); }
task<> close_it(closing_executor& own) { co_await own.close(); }

TEST(closing_executor, TASK_43_closing_cancels_what_is_bound_and_waits_for_it) {
    rig::stage s;
    roost::testing::manual_executor there("there");
    event never;
    int at_home = 0;
    int alive = 0;
    closing_executor own(there, "own");
    const job child = own.launch("child", wait_for(never, there, at_home, alive));
    outcome<int> got(std::in_place, 7);
    const job borrower = s.play(borrow(own, wait_for(never, there, at_home, alive), got));
    there.run_all();
    EXPECT_EQ(alive, 2);
    EXPECT_FALSE(borrower.is_finished());

    const job closer = s.play(close_it(own));
    EXPECT_FALSE(closer.is_finished()) << "what is bound unwinds on the executor first";
    while (there.run_all() + s.executor.run() != 0) {}
    EXPECT_EQ(closer.state(), job_state::completed);
    EXPECT_TRUE(own.is_closed());
    EXPECT_EQ(child.why().kind(), reason_kind::closed);
    EXPECT_TRUE(got.is_cancelled());
    EXPECT_EQ(got.why().kind(), reason_kind::closed);
    EXPECT_EQ(borrower.state(), job_state::completed) << "the borrower itself was not cancelled";
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(at_home, 2) << "locals are destroyed on the executor";
}

TEST(closing_executor, TASK_43_a_closed_one_takes_nothing_and_says_so_once) {
    rig::stage s;
    roost::testing::manual_executor there("there");
    event never;
    int at_home = 0;
    int alive = 0;
    closing_executor own(there, "own");
    s.play(close_it(own));
    EXPECT_TRUE(own.is_closed());
    EXPECT_FALSE(own.launch("late", wait_for(never, there, at_home, alive))) << "refused with a value";
    outcome<int> got(std::in_place, 7);
    const job borrower = s.play(borrow(own, wait_for(never, there, at_home, alive), got));
    EXPECT_EQ(there.run_all(), 0U) << "nothing was posted there";
    EXPECT_TRUE(borrower.is_finished());
    EXPECT_TRUE(got.is_cancelled());
    EXPECT_EQ(got.why().kind(), reason_kind::closed);
    EXPECT_EQ(at_home, 0) << "the body never ran";
}

task<int> take_argument(rig::tracked, int& ran) {
    ++ran;
    co_return 1;
}

// Neither has begun when the executor closes.
TEST(closing_executor, TASK_43_what_is_still_queued_at_close_is_destroyed_unrun_and_its_waiter_resumes) {
    rig::stage s;
    roost::testing::manual_executor there("there");
    int alive = 0;
    int ran = 0;
    closing_executor own(there, "own");
    const job child = own.launch("child", take_argument(rig::tracked(alive), ran));
    outcome<int> got(std::in_place, 7);
    const job borrower = s.play(borrow(own, take_argument(rig::tracked(alive), ran), got));
    EXPECT_EQ(alive, 2);

    const job closer = s.play(close_it(own));
    EXPECT_FALSE(borrower.is_finished());
    while (there.run_all() + s.executor.run() != 0) {}
    EXPECT_EQ(closer.state(), job_state::completed);
    EXPECT_EQ(ran, 0) << "destroyed, not run";
    EXPECT_EQ(alive, 0) << "with its arguments";
    EXPECT_EQ(child.state(), job_state::cancelled);
    EXPECT_EQ(child.why().kind(), reason_kind::closed);
    EXPECT_EQ(borrower.state(), job_state::completed);
    ASSERT_TRUE(got.is_cancelled());
    EXPECT_EQ(got.why().kind(), reason_kind::closed);
}

TEST(closing_executor, TASK_43_a_borrower_that_is_cancelled_leaves_the_executor_open) {
    rig::stage s;
    roost::testing::manual_executor there("there");
    event never;
    int at_home = 0;
    int alive = 0;
    closing_executor own(there, "own");
    outcome<int> got(std::in_place, 7);
    const job borrower = s.play(borrow(own, wait_for(never, there, at_home, alive), got));
    there.run_all();
    borrower.cancel();
    while (there.run_all() + s.executor.run() != 0) {}
    EXPECT_EQ(borrower.state(), job_state::cancelled);
    EXPECT_EQ(alive, 0);
    EXPECT_FALSE(own.observe().cancel_requested());
    own.close_blocking();
}

}  // namespace
