// Boost.Asio 1.81: a channel of nothing is its "notify". Driven by polling the io_context, so no thread sleeps.
#include "../../harness/harness.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/experimental/concurrent_channel.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace asio = boost::asio;
using signal_channel = asio::experimental::concurrent_channel<void(boost::system::error_code)>;

namespace {
asio::awaitable<void> wait_for_ever(signal_channel& wakes, std::uint64_t& done) {
    for (;;) {
        co_await wakes.async_receive(asio::use_awaitable);
        ++done;
    }
}
} // namespace

BENCH_PEER("sync/notify_nobody", "Asio channel try_send") {
    asio::io_context context(1);
    signal_channel wakes(context.get_executor(), 0);
    return bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) bench::keep(wakes.try_send(boost::system::error_code{}));
    });
}

BENCH_PEER("sync/wait_wake_one", "Asio channel") {
    asio::io_context context(1);
    signal_channel wakes(context.get_executor(), 0);
    std::uint64_t done = 0;
    asio::co_spawn(context, wait_for_ever(wakes, done), asio::detached);
    context.poll();
    return bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            wakes.try_send(boost::system::error_code{});
            context.poll();
        }
    });
}
