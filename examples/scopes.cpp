// One scope with rules: at most two children at a time, a failure that cancels no sibling, and a daemon.

#include <roost/roost.hpp>

#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

using namespace roost;
using namespace std::chrono_literals;

namespace {

class progress {
public:
    std::atomic<int> running{0};
    std::atomic<int> loaded{0};
    std::atomic<int> beats{0};
    std::atomic<bool> is_over_limit{false};
};

task<> load(std::string page, progress& p) {
    if (++p.running > 2) {
        p.is_over_limit = true;
    }
    co_await sleep_for(1ms);
    --p.running;
    if (page == "broken") {
        throw std::runtime_error("page '" + page + "' does not load");
    }
    ++p.loaded;
}

// begin body
task<> beat(progress& p) {
    for (;;) {  // has no end: the scope cancels it
        ++p.beats;
        co_await sleep_for(1ms);
    }
}

task<> crawl(scope& s, const std::vector<std::string>& pages, progress& p) {
    s.daemon("heartbeat", beat(p));
    for (const std::string& page : pages) {
        co_await s.room();  // while two are loading, the loop waits here
        s.launch("load", load(page, p));
    }
}

task<std::string> crawl_all(const std::vector<std::string>& pages, progress& p) {
    const auto rules = scope_options("crawl").at_most(2).keep_going();
    try {
        co_await with_scope(rules, crawl, std::cref(pages), std::ref(p));
    } catch (const std::runtime_error& first) {
        co_return first.what();  // the other pages have been loaded by now
    }
    co_return "all pages are loaded";
}
// end body

task<int> serve() {
    const std::vector<std::string> pages{"start", "broken", "news", "shop", "help"};
    progress p;
    const std::string result = co_await crawl_all(pages, p);
    std::printf("%s; %d others are loaded\n", result.c_str(), p.loaded.load());
    co_return p.loaded == 4 && p.running == 0 && p.beats > 0 && !p.is_over_limit ? 0 : 1;
}

}  // namespace

int main() { return run(serve()); }
