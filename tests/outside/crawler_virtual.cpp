// The crawler's twin on virtual time: the same limit, retries, timeouts and deadline without a socket, and hours take no time.
#include <roost/roost.hpp>
#include <roost/testing/virtual_time.hpp>

#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using roost::task;

// --- the server: page n answers after a minute, every third only at the second attempt; page 13 never does -------------------------

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

task<std::string> ask(site& s, int page) {
    const request counted(s);
    const roost::duration takes = page == 13 ? roost::duration(1000h) : roost::duration(1min);
    co_await roost::sleep_for(takes);
    if (++s.asked[static_cast<std::size_t>(page)] == 1 && page % 3 == 0) {
        throw std::runtime_error("busy");
    }
    co_return "page " + std::to_string(page);
}

// --- the crawler -----------------------------------------------------------------------------------------------------------------

struct crawl_result {
    int pages = 0;
    int given_up = 0;
};

task<std::string> ask_in_time(site* s, int page) { co_return co_await roost::fail_after(10min, ask(*s, page)); }

task<> fetch(site& s, int page, crawl_result& result) {
    try {
        co_await roost::retry(roost::backoff(1min), 3, ask_in_time, &s, page);
        ++result.pages;
    } catch (const std::exception&) {
        ++result.given_up;
    }
}

task<> crawl_pages(roost::scope& in, site& s, int count, crawl_result& result) {
    for (int page = 0; page < count; ++page) {
        co_await in.room();
        in.launch("fetch", fetch(s, page, result));
    }
}
task<> crawl(site& s, int count, crawl_result& result) {
    co_await roost::with_scope(roost::scope_options("crawl").at_most(8), crawl_pages, std::ref(s), count, std::ref(result));
}

task<> crawl_until(site& s, int count, roost::duration limit, crawl_result& result, bool& complete) {
    complete = co_await roost::move_on_after(limit, crawl(s, count, result));
}

// Cancels after a while, if it is given one: what Ctrl-C does.
bool crawl_on(roost::testing::virtual_time& clock, site& s, int count, roost::duration limit, crawl_result& result,
              std::optional<roost::duration> interrupt_after = {}) {
    roost::owned_scope root(clock, roost::scope_options("root").report_failures());
    bool complete = false;
    const roost::job crawling = root.launch("crawl", crawl_until(s, count, limit, result, complete));
    if (interrupt_after) {
        root.launch("user", [](roost::job which, roost::duration after) -> task<> {
            co_await roost::sleep_for(after);
            which.cancel();
        }(crawling, *interrupt_after));
    }
    root.request_close();
    clock.run();
    return complete && root.is_closed();
}

int main() {
    ::alarm(60);
    const auto fail = [](const char* why) {
        std::puts(why);
        return 1;
    };
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        roost::testing::virtual_time clock(seed);
        const roost::time_point start = clock.now();
        site s;
        crawl_result all;
        if (!crawl_on(clock, s, 40, 24h, all) || all.pages != 39 || all.given_up != 1) {
            return fail("39 pages and one that never answers were expected");
        }
        if (s.most != 8 || s.asked[3] != 2 || s.asked[4] != 1) {
            return fail("not eight at a time, or retries that were not wanted");
        }
        if (clock.now() - start < 33min || clock.now() - start > 1h) {
            return fail("page 13 is given up after three timeouts of ten minutes and waits of three in between");
        }
        site slow;
        crawl_result late;
        if (crawl_on(clock, slow, 100, 5min, late) || late.pages == 0 || late.pages == 100) {
            return fail("the deadline of five minutes did not end the crawl in the middle");
        }
        site cut;
        crawl_result interrupted;
        if (crawl_on(clock, cut, 100, 24h, interrupted, 3min) || interrupted.pages == 0 || interrupted.pages == 100) {
            return fail("Ctrl-C after three minutes did not end the crawl in the middle");
        }
    }
    return 0;
}
