// SQL text and connections that are not what they should be: every use is an answer or an error, and the connection stays good.
#include <roost/adapters/sqlite/connection.hpp>
#include <roost/roost.hpp>

#include <cstdio>
#include <string>
#include <vector>

#include <unistd.h>

using namespace roost;

namespace {

int wrong = 0;

void expect(bool right, const char* what) {
    if (!right) {
        std::printf("wrong: %s\n", what);
        ++wrong;
    }
}

template <class... Args>
bool refused(sqlite::connection& c, const std::string& sql, Args&&... args) {
    try {
        c.query_blocking(sql, std::forward<Args>(args)...);
        return false;
    } catch (const sqlite::error&) {
        return true;
    }
}

void texts() {
    auto c = sqlite::connection::open(":memory:");
    expect(refused(c, std::string("select 1\0", 9)), "text with a NUL at its end was taken");
    expect(refused(c, std::string("\0", 1)), "text that is a NUL was taken");
    expect(!refused(c, "select ?; -- c", 1), "a comment behind a statement was refused");
    expect(!refused(c, "/* c */ select ?", 1), "a comment before a statement was refused");
    expect(refused(c, "select ?; select 2", 1), "a second statement behind arguments was taken");
    expect(refused(c, "-- only", 1), "arguments for a comment were taken");
    expect(refused(c, "select ?"), "a parameter without an argument was taken");
    const std::string text("a\0b", 3);
    const sqlite::rows r = c.query_blocking("select ?", text);
    expect(r.get<std::string>(0, 0) == text, "an argument with a NUL was cut");
    expect(!c.is_broken(), "the connection is broken");
}

task<> closed(pool<sqlite::connection>& db) {
    {
        auto c = (co_await db.acquire("closes")).value();
        c->close_blocking();  // roost-lint: allow(blocking-call)
        c->interrupt();
        bool failed = false;
        try {
            co_await c->query("select 1");
        } catch (const sqlite::error&) {
            failed = true;
        }
        expect(failed, "a closed connection answered");
    }
    auto c = (co_await db.acquire("next")).value();
    const sqlite::rows r = co_await c->query("select 1");
    expect(r.size() == 1, "the next user of a closed connection got no answer");
}

}  // namespace

int main() {
    ::alarm(110);
    texts();
    runtime rt;
    pool_options o(1, "db");
    o.where = rt;
    o.timers = &rt.timers();
    auto db = sqlite::make_pool(":memory:", o);
    block_on(rt, closed(db));
    return wrong == 0 ? 0 : 1;
}
