// A crawler: at most 8 requests at a time, each with a timeout and retries, a deadline for the whole, and Ctrl-C. It runs
// against a server of its own that refuses some requests and hangs on others.
#include <roost/asio/async_run.hpp>
#include <roost/asio/use_task.hpp>
#include <roost/roost.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/write.hpp>

#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace net = boost::asio;
using namespace std::chrono_literals;
using net::ip::tcp;
using roost::task;
using roost::use_task;

// --- the server: page n answers, every third only at the second attempt; page 13 never does ------------------------------------

struct site {
    std::vector<int> asked = std::vector<int>(100);
    int running = 0;
    int most = 0;
};

// A request that the server is busy with.
class request {
public:
    explicit request(site& s) : site_(s) { s.most = std::max(s.most, ++s.running); }
    request(const request&) = delete;
    request& operator=(const request&) = delete;
    ~request() { --site_.running; }

private:
    site& site_;
};

task<> answer(tcp::socket peer, site& s) {
    std::string line;
    const auto [no_line, size] =
        co_await net::async_read_until(peer, net::dynamic_buffer(line), '\n', net::as_tuple(use_task));
    if (no_line) {
        co_return;  // the client has gone
    }
    const int page = std::stoi(line);
    const request counted(s);
    co_await roost::sleep_for(2ms);
    if (page == 13) {
        co_await roost::sleep_for(1h);
    }
    const bool refused = ++s.asked[static_cast<std::size_t>(page)] == 1 && page % 3 == 0;
    const std::string text = refused ? "busy\n" : "page " + std::to_string(page) + "\n";
    const auto [not_sent, sent] = co_await net::async_write(peer, net::buffer(text), net::as_tuple(use_task));
    static_cast<void>(not_sent);
}

task<> accept_all(roost::scope& s, tcp::acceptor& door, site& pages) {
    for (;;) {
        tcp::socket peer = co_await door.async_accept(use_task);
        s.launch("answer", answer(std::move(peer), pages));
    }
}
task<> serve(tcp::acceptor& door, site& pages) { co_await roost::with_scope(accept_all, std::ref(door), std::ref(pages)); }

// --- the crawler -----------------------------------------------------------------------------------------------------------------

struct crawl_result {
    int pages = 0;
    int given_up = 0;
};

task<std::string> ask(net::io_context& io, tcp::endpoint where, int page) {
    tcp::socket s(io);
    co_await s.async_connect(where, use_task);
    const std::string request = std::to_string(page) + "\n";
    co_await net::async_write(s, net::buffer(request), use_task);
    std::string text;
    co_await net::async_read_until(s, net::dynamic_buffer(text), '\n', use_task);
    if (text == "busy\n") {
        throw std::runtime_error("busy");
    }
    co_return text;
}

task<std::string> ask_in_time(net::io_context* io, tcp::endpoint where, int page) {
    const roost::duration limit =
        page == 13 ? 300ms : 20s;  // short where it will pass, and long where a busy machine may be slow
    co_return co_await roost::fail_after(limit, ask(*io, where, page));
}

task<> fetch(net::io_context& io, tcp::endpoint where, int page, crawl_result& result) {
    try {
        co_await roost::retry(roost::backoff(1ms).jitter(0.5), 3, ask_in_time, &io, where, page);
        ++result.pages;
    } catch (const std::exception&) {
        ++result.given_up;
    }
}

task<> crawl_pages(roost::scope& s, net::io_context& io, tcp::endpoint where, int count, crawl_result& result) {
    for (int page = 0; page < count; ++page) {
        co_await s.room();
        s.launch("fetch", fetch(io, where, page, result));
    }
}
task<> crawl(net::io_context& io, tcp::endpoint where, int count, crawl_result& result) {
    co_await roost::with_scope(roost::scope_options("limited scope").at_most(8), crawl_pages, std::ref(io), where, count,
                               std::ref(result));
}

task<> interrupted(net::io_context& io, bool& came) {
    net::signal_set signals(io, SIGINT);
    co_await signals.async_wait(use_task);
    came = true;
}

// --- the three ways in which it ends ---------------------------------------------------------------------------------------------

struct ending {
    bool complete = false;
    bool by_deadline = false;
    bool by_signal = false;
    crawl_result result;
};

task<> crawl_until(net::io_context& io, tcp::endpoint where, int count, roost::duration limit, ending& how) {
    how.by_deadline = !co_await roost::move_on_after(limit, crawl(io, where, count, how.result));
    how.complete = !how.by_deadline;
}

task<ending> crawl_once(roost::scope& s, net::io_context& io, int count, roost::duration limit, bool raises, site& pages) {
    tcp::acceptor door(io, tcp::endpoint(net::ip::address_v4::loopback(), 0));
    const roost::job server = s.launch("server", serve(door, pages));
    ending how;
    if (raises) {
        s.launch("user", [](roost::duration after) -> task<> {
            co_await roost::sleep_for(after);
            std::raise(SIGINT);
        }(20ms));
    }
    const auto first =
        co_await roost::race(interrupted(io, how.by_signal), crawl_until(io, door.local_endpoint(), count, limit, how));
    static_cast<void>(first);
    server.cancel();
    co_await server.join();
    co_return how;
}

task<ending> with_server(net::io_context& io, int count, roost::duration limit, bool raises, site& pages) {
    co_return co_await roost::with_scope(crawl_once, std::ref(io), count, limit, raises, std::ref(pages));
}

ending run_once(int count, roost::duration limit, bool raises, site& pages) {
    net::io_context io;
    return roost::run(io, with_server(io, count, limit, raises, pages));
}

int main() {
    ::alarm(110);
    const auto fail = [](const char* why) {
        std::puts(why);
        return 1;
    };
    site pages;
    const ending all = run_once(40, 30s, false, pages);
    if (!all.complete || all.by_signal || all.result.pages != 39 || all.result.given_up != 1) {
        return fail("39 pages and one that never answers were expected");
    }
    if (pages.most > 8 || pages.asked[3] != 2 || pages.asked[4] != 1) {
        return fail("more than eight at a time, or retries that were not wanted");
    }
    site slow;
    const ending late = run_once(100, 50ms, false, slow);
    if (!late.by_deadline || late.complete || late.result.pages == 100) {
        return fail("the deadline did not end the crawl");
    }
    site cut;
    const ending signalled = run_once(100, 30s, true, cut);
    if (!signalled.by_signal || signalled.complete || signalled.by_deadline) {
        return fail("Ctrl-C did not end the crawl");
    }
    return 0;
}
