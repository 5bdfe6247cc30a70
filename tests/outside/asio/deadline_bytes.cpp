// A reader that gives every read a short deadline and tries again receives every byte, once and in order: with one, two and
// three threads on the io_context, as a task of a runtime beside it, and on workers that drive it. The number of bytes per case
// can be given as the argument.
#include <roost/asio/asio_driver.hpp>
#include <roost/asio/async_run.hpp>
#include <roost/asio/use_task.hpp>
#include <roost/runtime/run.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include <unistd.h>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace net = boost::asio;
using namespace std::chrono_literals;
using stream = net::local::stream_protocol::socket;

struct tally {
    long bytes = 0;
    long timeouts = 0;
    bool in_order = true;
};

roost::task<tally> read_all(stream& from) {
    tally seen;
    std::array<char, 4096> data;
    for (;;) {
        auto read =
            co_await roost::move_on_after(20us, from.async_read_some(net::buffer(data), net::as_tuple(roost::use_task)));
        if (!read) {
            ++seen.timeouts;
            continue;
        }
        auto [error, n] = *read;
        if (error) {
            co_return seen;
        }
        for (std::size_t i = 0; i < n; ++i) {
            seen.in_order = seen.in_order && data[i] == static_cast<char>(seen.bytes % 127);
            ++seen.bytes;
        }
    }
}

// One byte at a time, at a pace close to the reader's deadlines.
void write_all(int fd, long count) {
    for (long i = 0; i < count; ++i) {
        const char byte = static_cast<char>(i % 127);
        if (::write(fd, &byte, 1) != 1) {
            break;
        }
        const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(10 + i % 20);
        while (std::chrono::steady_clock::now() < until) {}
    }
    ::close(fd);
}

bool transfer(const std::string& what, long count, int threads, bool on_runtime) {
    net::io_context io;
    stream reader(io);
    stream writer(io);
    net::local::connect_pair(reader, writer);
    std::thread writing(write_all, writer.release(), count);

    auto guard = net::make_work_guard(io);
    std::vector<std::thread> others;
    for (int i = on_runtime ? 0 : 1; i < threads; ++i) {
        others.emplace_back([&] { io.run(); });
    }
    const tally seen = on_runtime ? roost::run(read_all(reader)) : roost::run(io, read_all(reader));
    guard.reset();
    for (std::thread& t : others) {
        t.join();
    }
    writing.join();
    std::printf("%s: sent %ld, lost %ld, %ld deadlines passed\n", what.c_str(), count, count - seen.bytes, seen.timeouts);
    return seen.bytes == count && seen.in_order;
}

bool transfer_on_workers(unsigned workers, long count) {
    roost::ext::asio_driver io;
    roost::runtime rt(roost::runtime_options().workers(workers).driver(io));
    stream reader(io.context());
    stream writer(io.context());
    net::local::connect_pair(reader, writer);
    std::thread writing(write_all, writer.release(), count);
    const tally seen = roost::run(rt, read_all(reader));
    writing.join();
    std::printf("workers that drive the context: %u: sent %ld, lost %ld, %ld deadlines passed\n", workers, count,
                count - seen.bytes, seen.timeouts);
    return seen.bytes == count && seen.in_order;
}

int main(int argc, char** argv) {
    const long count = argc > 1 ? std::atol(argv[1]) : 20'000;
    ::alarm(argc > 1 ? 0 : 100);
    bool ok = true;
    for (int threads = 1; threads <= 3; ++threads) {
        ok = transfer("context threads: " + std::to_string(threads), count, threads, false) && ok;
    }
    ok = transfer("on a runtime", count, 1, true) && ok;
    ok = transfer_on_workers(1, count) && ok;
    ok = transfer_on_workers(2, count) && ok;
    if (!ok) {
        std::puts("bytes were lost, or came in another order");
    }
    return ok ? 0 : 1;
}
