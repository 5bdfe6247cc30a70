#include <roost/base/task_cancelled.hpp>

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

namespace {

using namespace roost;

static_assert(std::is_base_of_v<error, task_cancelled> && std::is_nothrow_copy_constructible_v<task_cancelled>);

TEST(task_cancelled, TASK_175_has_the_reason) {
    const task_cancelled e(reason(reason_kind::shutdown, "SIGTERM"));
    EXPECT_EQ(e.kind(), errc::cancelled);
    EXPECT_EQ(e.why().kind(), reason_kind::shutdown);
    EXPECT_EQ(e.why().text(), "SIGTERM");
    EXPECT_NE(std::string(e.what()).find("the task ended cancelled: "), std::string::npos);
}

}  // namespace
