// Cancelled connects and statements, when the server is silent or late.

#include <roost/observe/dump.hpp>
#include <roost/task/sleep.hpp>

#include "fixture.hpp"

#include <fstream>

namespace {

using namespace roost;
using namespace roost::observe;
using namespace postgres_testing;
using postgres::connection;

class postgres_cancels : public with_server {};

// A listener that the kernel answers for: it never sends a byte.
class silent_server {
public:
    silent_server() : listens_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        EXPECT_EQ(::bind(listens_, reinterpret_cast<sockaddr*>(&address), size), 0);
        EXPECT_EQ(::listen(listens_, 16), 0);
        EXPECT_EQ(::getsockname(listens_, reinterpret_cast<sockaddr*>(&address), &size), 0);
        port_ = ntohs(address.sin_port);
    }
    silent_server(const silent_server&) = delete;
    silent_server& operator=(const silent_server&) = delete;
    ~silent_server() { ::close(listens_); }
    [[nodiscard]] std::string conninfo() const { return "host=127.0.0.1 user=x port=" + std::to_string(port_); }

private:
    int listens_;
    std::uint16_t port_ = 0;
};

task<bool> gives_up(std::string conninfo, postgres::connect_options how) {
    const auto made = co_await move_on_after(std::chrono::milliseconds(20), connection::connect(std::move(conninfo), how));
    co_return !made.has_value();
}

TEST_F(postgres_cancels, POOL_206_cancelling_ends_the_wait_for_a_server_that_says_nothing) {
    const silent_server peer;
    postgres::connect_options how;
    how.connect_timeout = std::chrono::hours(1);
    for (int i = 0; i < 8; ++i) {
        EXPECT_TRUE(run(gives_up(peer.conninfo(), how)));
    }
}

task<> only_query(connection* c, std::string sql) { static_cast<void>(co_await c->query(std::move(sql))); }

// Returns true if a cancel request has reached the process, which is stopped.
bool has_pending_interrupt(int process) {
    std::ifstream status("/proc/" + std::to_string(process) + "/status");
    for (std::string line; std::getline(status, line);) {
        if (line.rfind("ShdPnd:", 0) == 0) {
            return (std::stoull(line.substr(7), nullptr, 16) & (1U << (SIGINT - 1))) != 0;
        }
    }
    return false;
}
// The cancel request arrives before the statement is read, and has no effect.
task<> meet_slow_backend(scope& s, pool<connection>* db, int* process) {
    pooled<connection> c = (co_await db->acquire("slow")).value();
    *process = c->server_process();
    ::kill(*process, SIGSTOP);
    job j = s.launch("query", only_query(&*c, "select pg_sleep(3600)"));
    while (dump(j).find("waits on postgres query") == std::string::npos) {
        co_await sleep_for(std::chrono::milliseconds(1));
    }
    j.cancel();
    while (!has_pending_interrupt(*process)) {
        co_await sleep_for(std::chrono::milliseconds(1));
    }
    ::kill(*process, SIGCONT);
    co_await j.join();
    EXPECT_FALSE(c->is_broken());
}
task<> scope_with_slow_backend(pool<connection>* db, int* process) { co_await with_scope(meet_slow_backend, db, process); }

TEST_F(postgres_cancels, POOL_57_a_cancel_request_that_overtakes_its_statement_is_repeated) {
    postgres::connect_options how;
    how.cancel_budget = std::chrono::seconds(60);
    pool<connection> db = postgres::make_pool(pg->conninfo(), options(1), how);
    int process = 0;
    run(scope_with_slow_backend(&db, &process));
    EXPECT_EQ(run(query_once(&db, "select pg_backend_pid()")).get<int>(0, 0), process);
}

}  // namespace
