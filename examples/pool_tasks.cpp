// A pool of connections shared by tasks. Each handle returns its connection when it is destroyed.

#include <roost/roost.hpp>

#include <cstdio>
#include <functional>
#include <string>

using namespace roost;
using namespace std::chrono_literals;

namespace {

class connection {
public:
    explicit connection(std::string host) : host_(std::move(host)) {}
    std::string query(const std::string& what) { return host_ + " says " + what + " (" + std::to_string(++queries_) + ")"; }

private:
    std::string host_;
    int queries_ = 0;
};

connection connect(const std::string& host) { return connection(host); }

// begin use
task<std::string> report(pool<connection>& db) {
    auto c = co_await db.acquire("report");  // a handle, or a status and an error
    if (!c) {
        co_return "refused: " + std::string(to_string(c.status()));
    }
    co_return c->query("hello");  // c returns the connection when it is destroyed
}
// end use

// begin pass
// The handle may move into another task. The connection goes back when that task ends.
task<std::string> ask_twice(pooled<connection> c) {
    const std::string first = c->query("who");
    co_return first + ", " + c->query("what");
}
// end pass

task<int> play(pool<connection>& db) {
    const std::string first = co_await report(db);
    const std::string second = co_await report(db);
    auto lent = co_await db.acquire("ask twice");
    const std::string both = co_await ask_twice(std::move(lent.handle()));
    co_await db.close();
    const std::string third = co_await report(db);
    std::printf("%s\n%s\n%s\n%s\n", first.c_str(), second.c_str(), both.c_str(), third.c_str());
    const bool right = first == "db.example says hello (1)" && second == "db.example says hello (2)" &&
                       both == "db.example says who (3), db.example says what (4)" && third == "refused: closed";
    co_return right ? 0 : 1;
}

}  // namespace

int main() {
    runtime rt;
    const std::string host = "db.example";
    // begin make
    pool_options o(10, "db");  // at most ten
    o.where = rt;              // a runtime's executor: for awaitable functions and anything timed
    o.timers = &rt.timers();
    pool<connection> db(o, [&host] { return connect(host); });
    // end make
    return block_on(rt, play(db));
}
