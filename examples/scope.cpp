// A scope: two children at once, and nothing is left behind when it returns.

#include <roost/roost.hpp>

#include <cstdio>
#include <string>

using namespace roost;
using namespace std::chrono_literals;

namespace {

task<std::string> load_user(int id) {
    co_await sleep_for(2ms);
    co_return "user " + std::to_string(id);
}

task<std::string> load_news() {
    co_await sleep_for(1ms);
    co_return "it is raining";
}

task<> count_visit(int& visits) {
    co_await sleep_for(3ms);
    ++visits;
}

// begin body
// The body starts children in its scope. Whatever happens, with_scope returns after all of them have ended.
task<std::string> build_page(scope& s, int id, int& visits) {
    auto user = s.async("user", load_user(id));
    auto news = s.async("news", load_news());
    s.launch("statistics", count_visit(visits));  // no result is wanted; the scope waits for it
    std::string page = co_await std::move(user);
    page += ": " + co_await std::move(news);
    co_return page;
}

task<int> serve() {
    int visits = 0;
    const std::string page = co_await with_scope(build_page, 7, std::ref(visits));
    std::printf("%s (visits: %d)\n", page.c_str(), visits);
    co_return page == "user 7: it is raining" && visits == 1 ? 0 : 1;
}
// end body

}  // namespace

int main() { return run(serve()); }
