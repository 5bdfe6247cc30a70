// What a select does with its clauses is in select_test.cpp; here is what can be one.
#include <roost/flow/detail/select_clause.hpp>

#include <roost/sync/barrier.hpp>
#include <roost/sync/mutex.hpp>
#include <roost/sync/shared_mutex.hpp>

#include <gtest/gtest.h>

namespace {

using namespace roost;
using detail::is_clause;

static_assert(is_clause<event::operation> && is_clause<auto_reset_event::operation> && is_clause<latch::operation>);
static_assert(is_clause<mutex::operation> && is_clause<semaphore::operation> && is_clause<shared_mutex::shared_operation>);
static_assert(is_clause<channel<int>::send_operation> && is_clause<channel<int>::receive_operation>);
static_assert(is_clause<job::join_awaiter>);
static_assert(!is_clause<task<int>> && !is_clause<int>);

TEST(select_clause, JOB_54_jobs_and_deferreds_stand_for_their_end) {
    static_assert(std::is_same_v<decltype(detail::as_operation(std::declval<const job&>())), job::join_awaiter>);
    static_assert(std::is_same_v<decltype(detail::as_operation(std::declval<deferred<int>&>())), job::join_awaiter>);
    EXPECT_FALSE(detail::as_operation(job()).can_wait());
}

}  // namespace
