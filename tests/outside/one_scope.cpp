// One scope that composes: a limit, failures that do not disturb the others, daemons and a name, in every combination, and one
// function that takes scope& serves all of them.
#include <roost/roost.hpp>

#include <array>
#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>

using namespace roost;
using namespace std::chrono_literals;

namespace {

int wrong = 0;
void expect(bool right, const char* what) {
    if (!right) {
        std::printf("wrong: %s\n", what);
        ++wrong;
    }
}

struct counts {
    std::atomic<int> running{0};
    std::atomic<int> most{0};
    std::atomic<int> ended{0};
    std::atomic<int> beats{0};
};

void note_most(counts& c) {
    const int now = ++c.running;
    int most = c.most.load();
    while (now > most && !c.most.compare_exchange_weak(most, now)) {}
}
task<> fetch(counts& c, int i) {
    note_most(c);
    co_await sleep_for(1ms);
    --c.running;
    ++c.ended;
    if (i == 3) {
        throw std::runtime_error("page 3 is gone");
    }
}
task<> beat(counts& c) {
    for (;;) {
        ++c.beats;
        co_await sleep_for(1ms);
    }
}

// Knows nothing of the scope's options.
task<int> crawl(scope& s, counts& c) {
    s.daemon("heartbeat", beat(c));
    for (int i = 0; i < 40; ++i) {
        co_await s.room();
        s.launch("fetch", fetch(c, i));
    }
    co_return 40;
}

task<> all() {
    {
        counts c;
        const auto ended =
            co_await as_outcome(with_scope(scope_options("crawl").at_most(8).keep_going(), crawl, std::ref(c)));
        expect(ended.has_error(), "the failure is thrown at the end");
        expect(c.ended == 40, "a failure disturbs no other child");
        expect(c.most <= 8, "at most eight at a time");
        expect(c.beats > 0 && c.running == 0, "the daemon ran, and all has ended");
    }
    {
        counts c;
        const auto ended = co_await as_outcome(with_scope(scope_options("crawl").at_most(2), crawl, std::ref(c)));
        expect(ended.has_error(), "fail fast throws");
        expect(c.ended < 40, "fail fast cancels the others");
    }
    {
        counts c;
        const auto ended = co_await as_outcome(with_scope(crawl, std::ref(c)));
        expect(ended.has_error() && c.running >= 0, "a plain scope has daemons, too");
    }
}

task<> fetch_twice(counts& c, bool& failed) {
    note_most(c);
    co_await sleep_for(1ms);
    --c.running;
    if (!std::exchange(failed, true)) {
        throw std::runtime_error("the first attempt");
    }
    ++c.ended;
}
task<> restarted(supervisor& s, counts& c, std::array<bool, 12>& failed) {
    s.daemon("heartbeat", beat, std::ref(c));
    for (bool& one : failed) {
        co_await s.room();
        s.launch("fetch", fetch_twice, std::ref(c), std::ref(one));
    }
}
task<> supervised_with_options() {
    counts c;
    std::array<bool, 12> failed{};
    const auto ended = co_await supervise(scope_options("crawl").at_most(3), on_failure::restart(backoff(1ms), 5), restarted,
                                          std::ref(c), std::ref(failed));
    expect(ended && ended.counts().restarts == 12, "each child was restarted once");
    expect(c.ended == 12 && c.most <= 3 && c.beats > 0, "a supervised scope has a limit and daemons, too");
}

task<int> nothing(scope& s, counts& c) {
    s.daemon("heartbeat", beat(c));
    co_return 1;
}
task<> only_daemons() {
    counts c;
    expect(co_await with_scope(nothing, std::ref(c)) == 1, "a daemon alone does not keep a scope");
}

}  // namespace

int main() {
    run(all());
    run(only_daemons());
    run(supervised_with_options());
    runtime rt(runtime_options().workers(2));
    counts c;
    {
        owned_scope jobs(rt, scope_options("jobs").at_most(3).report_failures());
        jobs.daemon("heartbeat", beat(c));
        for (int i = 0; i < 20; ++i) {
            jobs.launch("fetch", fetch(c, 0));
        }
        jobs.close_blocking();
    }
    expect(c.ended == 20 && c.most <= 3, "an object's scope has a limit and daemons, too");
    std::printf(wrong == 0 ? "all as expected\n" : "%d wrong\n", wrong);
    return wrong;
}
