// A deadline that several calls share, a limit for each of many, and a blocking function that takes a limit.

#include <roost/roost.hpp>

#include <cstdio>
#include <string>
#include <thread>
#include <vector>

using namespace roost;
using namespace std::chrono_literals;

namespace {

task<std::string> ask(std::string who, duration takes) {
    co_await sleep_for(takes);
    co_return who;
}

// begin share
// Both calls have to end at one time. The second call may use what the first one leaves.
task<std::string> build_page() {
    const time_point end = co_await this_time() + 2s;  // the executor's clock: virtual time in a test
    std::string page = co_await fail_at(end, ask("user", 1ms));            // throws timed_out
    auto advice = co_await move_on_at(end - 1950ms, ask("advice", 1h));  // optional: empty, and the page goes out early
    page += advice ? ", " + *advice : ", no advice";
    const duration left = end - co_await this_time();
    std::printf("%s, with %s left\n", page.c_str(), format_duration(left).c_str());
    co_return page;
}
// end share

// begin each
// One limit per question: a slow one fails alone. A vector holds tasks; as_task makes one of anything that can be awaited.
task<int> count_answers(std::vector<duration> times) {
    std::vector<task<std::string>> questions;
    for (const duration takes : times) {
        questions.push_back(as_task(fail_after(200ms, ask("answer", takes))));
    }
    auto answers = co_await when_all_settled(std::move(questions));
    int count = 0;
    for (const outcome<std::string>& answer : answers) {
        count += answer.has_value() ? 1 : 0;
    }
    co_return count;
}
// end each

// begin limit
// For threads. One parameter takes every form of a limit.
class worker {
public:
    explicit worker(literal name) : ready_(name), thread_([this] { ready_.set(); }) {}
    bool wait_until_ready(time_limit limit) { return ready_.wait_blocking(limit); }

private:
    event ready_;
    std::jthread thread_;
};

bool start_workers() {
    worker first("first");
    worker second("second");
    const time_point end = now() + 5s;  // for both
    return first.wait_until_ready(5s) && second.wait_until_ready(end);
}
// end limit

task<int> play() {
    const std::string page = co_await build_page();
    const std::vector<duration> times = {0ms, 1h, 1ms};
    const int count = co_await count_answers(times);
    std::printf("%d answers\n", count);
    co_return page == "user, no advice" && count == 2 ? 0 : 1;
}

}  // namespace

int main() { return start_workers() ? run(play()) : 1; }
