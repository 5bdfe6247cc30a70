// Asio on the workers of a runtime: reads that look up from time to time and lose nothing, and work that blocks.

#include <roost/asio/asio_driver.hpp>
#include <roost/asio/use_task.hpp>
#include <roost/runtime/blocking.hpp>
#include <roost/runtime/run.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/sleep.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>

namespace net = boost::asio;
using namespace std::chrono_literals;
using roost::task;
using roost::use_task;
using stream = net::local::stream_protocol::socket;

namespace {

// begin again
// A read under a deadline can be tried again: its bytes are returned, or they are still in the kernel.
task<std::string> read_some(stream& from, int& looked_up) {
    std::array<char, 512> data;
    for (;;) {
        const auto n = co_await roost::move_on_after(1ms, from.async_read_some(net::buffer(data), use_task));
        if (n) {
            co_return std::string(data.data(), *n);
        }
        ++looked_up;  // nothing came: say so, look at the time, try again
    }
}
// end again

// begin whole
// A composed operation may be ended half way. With as_tuple the number of bytes comes back beside the error.
task<std::string> read_whole(stream& from, std::size_t size, int& looked_up) {
    std::string text(size, ' ');
    std::size_t have = 0;
    while (have < size) {
        const auto rest = net::buffer(text.data() + have, size - have);
        const auto part = co_await roost::move_on_after(1ms, net::async_read(from, rest, net::as_tuple(use_task)));
        if (!part) {
            ++looked_up;  // not a single byte
            continue;
        }
        const auto [error, n] = *part;
        have += n;  // with operation_aborted, too
        if (error && error != net::error::operation_aborted) {
            throw boost::system::system_error(error);
        }
    }
    co_return text;
}
// end whole

task<> write_slowly(stream& to, std::string_view text) {
    for (const char& c : text) {
        co_await roost::sleep_for(3ms);
        co_await net::async_write(to, net::buffer(&c, 1), use_task);
    }
}

// begin blocking
std::size_t count_words(const std::string& text) {  // blocks: a library that knows no coroutines, a file, a computation
    std::this_thread::sleep_for(1ms);
    return 1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), ' '));
}

task<std::size_t> words_of(std::string text) { co_return co_await roost::blocking(count_words, std::move(text)); }
// end blocking

task<bool> talk(roost::scope& s, stream& a, stream& b) {
    const std::string_view text = "h one two three";
    s.launch("writer", write_slowly(a, text));
    int looked_up = 0;
    std::string got = co_await read_some(b, looked_up);
    got += co_await read_whole(b, text.size() - got.size(), looked_up);
    const std::size_t words = co_await words_of(got);
    std::printf("'%s': %zu words, looked up: %s\n", got.c_str(), words, looked_up > 0 ? "yes" : "no");
    co_return got == text&& words == 4;
}
task<bool> talk_over(stream& a, stream& b) { co_return co_await roost::with_scope(talk, std::ref(a), std::ref(b)); }

}  // namespace

// begin main
int main() {
    roost::ext::asio_driver io;  // before the runtime: it has to live longer
    roost::runtime rt(roost::runtime_options().workers(2).driver(io));

    stream a(io.context());
    stream b(io.context());
    net::local::connect_pair(a, b);
    return roost::run(rt, talk_over(a, b)) ? 0 : 1;
}
// end main
