#include <roost/asio/detail/run_block.hpp>

#include <roost/asio/async_run.hpp>
#include <roost/task/on_exit.hpp>
#include <roost/task/this_task.hpp>

#include "all_of_asio.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace {

using namespace roost;
namespace net = roost::detail::net;

// When the handler is called, no frame of the task is left.
TEST(run_block, ASIO_15_the_handler_comes_after_the_last_frame) {
    net::io_context io;
    auto alive = std::make_shared<int>(1);
    long left = 0;
    async_run(
        io, "holds",
        [](std::shared_ptr<int> mine) -> task<> {
            co_await yield();
            EXPECT_EQ(*mine, 1);
        }(alive),
        [&](std::exception_ptr) { left = alive.use_count(); });
    EXPECT_EQ(alive.use_count(), 2);
    io.run();
    EXPECT_EQ(left, 1);
}

TEST(run_block, ASIO_16_partial_cancels_and_total_stops) {
    net::io_context io;
    const auto root = detail::node_ref<detail::run_block>::adopt(new detail::run_block(io_executor::of(io), "root", site()));
    detail::pass_on(*root, net::cancellation_type::none);
    EXPECT_EQ(root->level_now(), level::running);
    detail::pass_on(*root, net::cancellation_type::total);
    EXPECT_EQ(root->level_now(), level::stop);
    detail::pass_on(*root, net::cancellation_type::partial);
    EXPECT_EQ(root->level_now(), level::cancel);
    root->close();
}

}  // namespace
