// A pool that is too slow. The metrics say that requests wait for a connection; the dump says who has the connections.

#include <roost/roost.hpp>

#include <cstdio>
#include <functional>
#include <string>
#include <thread>

using namespace roost;
using namespace std::chrono_literals;

namespace {

using database = pool<int>;

task<> month_end(database& db, event& over) {
    auto connection = co_await db.acquire("month end");
    co_await over.wait();
}

task<> request(database& db) {
    auto connection = co_await db.acquire("request");
    co_await sleep_for(1ms);
}

// The lines of a text that contain a word.
std::string lines_with(const std::string& text, std::string_view word) {
    std::string found;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        const std::string line = text.substr(begin, end - begin);
        found += line.find(word) == std::string::npos ? "" : line + "\n";
        begin = end + 1;
    }
    return found;
}

}  // namespace

int main() {
    metrics::enable();
    observe::set_owner_tracking(true);
    runtime rt;
    pool_options options(2, "db");
    options.where = rt;
    options.timers = &rt.timers();
    database db(options, [] { return 1; });
    event over("month end is over");
    owned_scope requests(rt, scope_options("requests").report_failures());
    for (int i = 0; i < 2; ++i) requests.launch("export", month_end(db, over));
    while (db.stats().out < 2) std::this_thread::sleep_for(1ms);
    for (int i = 0; i < 20; ++i) requests.launch("request", request(db));
    while (db.stats().waiting < 20) std::this_thread::sleep_for(1ms);
    const std::string first = metrics::to_prometheus();
    std::this_thread::sleep_for(300ms);
    const std::string dump = observe::dump(requests);
    over.set();
    requests.close_blocking();
    const std::string scraped =
        lines_with(first, "roost_pool_waiting{") + lines_with(metrics::to_prometheus(), "roost_pool_wait_seconds_sum");
    std::fputs((scraped + dump).c_str(), stdout);
    const bool is_measured = scraped.find("roost_pool_waiting{pool=\"db\"} 20") != std::string::npos;
    const bool is_named =
        dump.find("20 x job 'request'") != std::string::npos && dump.find("2 of 2 out") != std::string::npos;
    return is_measured && is_named ? 0 : 1;
}
