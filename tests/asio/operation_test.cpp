#include <roost/asio/detail/operation.hpp>

#include <roost/asio/async_run.hpp>
#include <roost/asio/use_task.hpp>

#include "all_of_asio.hpp"

#include <gtest/gtest.h>
namespace {

using namespace roost;
using namespace roost::seam;
namespace net = roost::detail::net;

template <class Signature, class Token, class Initiation>
auto initiate(Initiation initiation, Token token) {
    return net::async_initiate<Token, Signature>(std::move(initiation), token);
}

// Which executor an operation's handlers are given when `offered` is the I/O object's.
task<net::any_io_executor> executor_of_operation(net::any_io_executor offered) {
    net::any_io_executor got;
    co_await initiate<void()>(
        [&](auto handler) {
            got = net::get_associated_executor(handler, offered);
            EXPECT_EQ(got, net::get_associated_executor(handler, net::system_executor()));  // the first one stays
            std::move(handler)();
        },
        use_task);
    co_return got;
}

TEST(operation, ASIO_7_handlers_get_a_strand_unless_their_executor_is_serial) {
    net::io_context io;
    const net::any_io_executor plain = io.get_executor();
    const net::any_io_executor got = run(io, executor_of_operation(plain));
    EXPECT_NE(got.target<net::strand<net::any_io_executor>>(), nullptr);

    const net::any_io_executor strand = net::make_strand(io.get_executor());
    io.restart();
    EXPECT_EQ(run(io, executor_of_operation(strand)), strand);

    io_executor::of(io).set_single_threaded();
    io.restart();
    EXPECT_EQ(run(io, executor_of_operation(plain)), plain);
}

}  // namespace
