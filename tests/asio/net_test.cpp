#include <roost/asio/detail/net.hpp>

#include <roost/asio/async_run.hpp>
#include <roost/asio/use_task.hpp>

#include "by_hand.hpp"

#include <gtest/gtest.h>

#include <system_error>
#include <type_traits>

#if defined(ROOST_ASIO_STANDALONE)
namespace chosen = asio;
using chosen_error = std::system_error;
#else
namespace chosen = boost::asio;
using chosen_error = boost::system::system_error;
#endif

namespace {

using namespace roost;
using asio_testing::initiate;

static_assert(std::is_same_v<detail::net::io_context, chosen::io_context>);
static_assert(std::is_base_of_v<chosen::execution_context::service, io_executor>);
static_assert(std::is_same_v<detail::system_error, chosen_error>);

task<bool> throws_the_type_of_its_asio() {
    try {
        co_await initiate<void(detail::error_code)>(
            [](auto handler) { std::move(handler)(chosen::error::make_error_code(chosen::error::timed_out)); }, use_task);
    } catch (const chosen_error& e) {
        co_return e.code() == chosen::error::timed_out;
    }
    co_return false;
}

TEST(net, ASIO_40_contexts_and_errors_are_those_of_the_chosen_asio) {
    chosen::io_context io;
    EXPECT_TRUE(run(io, throws_the_type_of_its_asio()));
}

}  // namespace
