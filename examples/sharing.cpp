// One computation, many that wait for it: a result that is loaded once, and a cache whose misses do not pile up.

#include <roost/roost.hpp>

#include <atomic>
#include <cstdio>
#include <string>
#include <utility>

using namespace roost;
using namespace std::chrono_literals;

namespace {

std::atomic<int> loads{0};
std::atomic<int> fetches{0};

task<std::string> load_settings() {
    co_await sleep_for(1ms);
    ++loads;
    co_return "dark";
}

// begin shared
task<std::string> handle(int id, shared_deferred<std::string> settings) {
    const std::string& theme = co_await settings;  // each copy may be awaited any number of times
    co_return "request " + std::to_string(id) + " is " + theme;
}

task<std::string> handle_both(scope& s) {
    // Started once. A cancelled request does not cancel the load that the other request waits for.
    const shared_deferred<std::string> settings(s.async("settings", load_settings()), getter_cancel::stays_here);
    auto [first, second] = co_await when_all(handle(1, settings), handle(2, settings));
    co_return first + ", " + second;
}
// end shared

// begin coalesce
task<std::string> fetch(std::string url) {
    ++fetches;
    co_await sleep_for(100ms);
    co_return "page of " + url;
}

class page_source {
public:
    explicit page_source(scope& s) : running_(s, "fetch") {}
    // Calls for a URL that is being fetched wait for that fetch. They do not start one of their own.
    task<std::string> get(std::string url) { return running_.coalesce(std::move(url), fetch); }

private:
    coalescer<std::string, std::string> running_;
};
// end coalesce

task<bool> get_pages(scope& s) {
    page_source pages(s);
    auto [a, b, c] = co_await when_all(pages.get("home"), pages.get("home"), pages.get("news"));
    co_return a == b&& c == "page of news";
}

task<int> play() {
    const std::string both = co_await with_scope(handle_both);
    const bool right = co_await with_scope(get_pages);
    std::printf("%s; %d load; %d fetches for three calls\n", both.c_str(), loads.load(), fetches.load());
    co_return both == "request 1 is dark, request 2 is dark" && right&& loads == 1 && fetches == 2 ? 0 : 1;
}

}  // namespace

int main() { return run(play()); }
