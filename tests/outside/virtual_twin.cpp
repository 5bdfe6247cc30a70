// A crawler with retries, jitter, deadlines and fair selects on virtual time: the same seed gives the same trace, twice.
#include <roost/roost.hpp>
#include <roost/testing/virtual_time.hpp>

#include <unistd.h>
#include <cstdio>
#include <stdexcept>
#include <string>

using namespace roost;
using namespace std::chrono_literals;

namespace {

struct world {
    testing::virtual_time* clock;
    time_point began;
    std::string trace;
    int tries = 0;

    void note(const char* what, int page) {
        const auto ms = std::chrono::duration_cast<std::chrono::microseconds>(clock->now() - began).count();
        trace += std::to_string(ms) + " " + what + " " + std::to_string(page) + "\n";
    }
};

task<int> fetch(world& w, int page) {
    ++w.tries;
    co_await sleep_for(std::chrono::milliseconds(10 + page * 7 % 40));
    if ((page + w.tries) % 3 == 0) {
        w.note("failed", page);
        throw std::runtime_error("server error");
    }
    w.note("fetched", page);
    co_return page;
}
task<int> load(world& w, int page) { co_return co_await retry(backoff(20ms).jitter(1.0), 5, fetch, std::ref(w), page); }
task<> visit(world& w, channel<int>& out, int page) {
    const auto got = co_await move_on_after(200ms, load(w, page));
    w.note(got ? "kept" : "gave up", page);
    static_cast<void>(co_await out.send(page));
}
task<> collect_from(world& w, channel<int>& left, channel<int>& right, int count) {
    for (int i = 0; i < count; ++i) {
        auto got = co_await select(fair, left.receive(), right.receive());
        w.note(got.index() == 0 ? "left" : "right", i);
    }
}
task<> crawl_in(scope& s, world& w, channel<int>& left, channel<int>& right) {
    for (int page = 0; page < 40; ++page) {
        s.launch("visit", visit(w, page % 2 == 0 ? left : right, page));
    }
    co_await sleep_for(100ms);
    co_await collect_from(w, left, right, 40);
    const token t = co_await this_token();
    const time_point at = co_await this_time();
    w.note(t.remaining() == t.deadline() - at ? "has its time left" : "is told another clock", 0);
}
task<> crawl(world& w, channel<int>& left, channel<int>& right) {
    co_await with_scope(crawl_in, std::ref(w), std::ref(left), std::ref(right));
}
task<> limited(world& w, channel<int>& left, channel<int>& right) { co_await fail_after(3h, crawl(w, left, right)); }

std::string trace_of(std::uint64_t seed) {
    testing::virtual_time clock(seed);
    world w{&clock, clock.now(), {}};
    channel<int> left(64);
    channel<int> right(64);
    owned_scope root(clock, scope_options("crawler").report_failures());
    root.launch("crawl", limited(w, left, right));
    root.request_close();
    clock.run();
    return w.trace;
}

}  // namespace

int main() {
    alarm(110);
    for (const std::uint64_t seed : {std::uint64_t(0), std::uint64_t(7)}) {
        const std::string first = trace_of(seed);
        const std::string second = trace_of(seed);
        if (first != second) {
            std::printf("seed %d: two runs differ:\n%s---\n%s", static_cast<int>(seed), first.c_str(), second.c_str());
            return 1;
        }
        if (first.find("has its time left") == std::string::npos || first.find("failed") == std::string::npos) {
            std::printf("seed %d: the run shows too little:\n%s", static_cast<int>(seed), first.c_str());
            return 1;
        }
    }
    return 0;
}
