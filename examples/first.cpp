// Two requests at once, under one deadline. When serve() ends, both have ended, also after an error.

#include <roost/roost.hpp>

#include <cstdio>
#include <string>

using namespace roost;
using namespace std::chrono_literals;

task<std::string> fetch(std::string what, duration takes) {
    co_await sleep_for(takes);
    co_return what + " is here";
}

task<std::string> fetch_both(scope& s) {
    auto user = s.async("user", fetch("ann", 2ms));  // the name is for reports: who runs, since when, waiting on what
    auto news = s.async("news", fetch("rain", 1ms));
    std::string page = co_await std::move(user);
    page += ", " + co_await std::move(news);
    co_return page;
}

task<std::string> load_page() { co_return co_await with_scope(fetch_both); }

task<int> serve() {
    const auto page = co_await move_on_after(5s, load_page());  // std::optional: empty when it took too long
    std::printf("%s\n", page ? page->c_str() : "too late");
    co_return page ? 0 : 1;
}

int main() { return run(serve()); }
