// Several tasks at once: all of them, the first, the first that succeeds, at most so many at a time, again and again.

#include <roost/flow/map_concurrent.hpp>
#include <roost/flow/race.hpp>
#include <roost/flow/retry.hpp>
#include <roost/flow/when_all.hpp>
#include <roost/roost.hpp>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

using namespace roost;
using namespace std::chrono_literals;

namespace {

task<std::string> load_user(int id) {
    co_await sleep_for(1ms);
    co_return "user " + std::to_string(id);
}
task<int> load_news() {
    co_await sleep_for(1ms);
    co_return 3;
}
task<std::string> ask(const char* replica, duration takes) {
    co_await sleep_for(takes);
    if (takes == 2ms) {
        throw std::runtime_error(std::string(replica) + " is down");
    }
    co_return replica;
}
task<std::size_t> fetch(const std::string& url) {
    co_await sleep_for(1ms);
    co_return url.size();
}
task<int> load_row(int id) {
    static int attempts = 0;
    if (++attempts < 3) {
        throw std::runtime_error("busy");
    }
    co_return id;
}

task<int> play() {
    const int id = 7;
    const std::vector<std::string> urls = {"a", "bb", "ccc"};
    // begin body
    auto [user, news] = co_await when_all(load_user(id), load_news());
    auto first = co_await race(ask("north", 1h), ask("south", 1ms));           // first.index(), first.value()
    auto good = co_await first_success(ask("east", 2ms), ask("west", 4ms));    // errors count only when all fail
    auto pages = co_await map_concurrent(urls, 8, fetch);  // at most eight at a time, results in order
    const int row = co_await retry(backoff(1ms).jitter(0.5), 4, load_row, id);
    // end body
    const bool right = user == "user 7" && news == 3 && first.value() == "south" && good.value() == "west" &&
                       pages == std::vector<std::size_t>{1, 2, 3} && row == id;
    std::printf("%s, %d news; %s was first, %s succeeded; %zu pages; row %d\n", user.c_str(), news, first.value().c_str(),
                good.value().c_str(), pages.size(), row);
    co_return right ? 0 : 1;
}

}  // namespace

int main() { return run(play()); }
