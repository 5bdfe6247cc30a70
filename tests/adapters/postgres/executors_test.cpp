// Where a connection waits: on the driver of a runtime or a loop, on the poller's thread for another executor, and on the
// sockets that libpq closes and replaces.

#include <roost/observe/dump.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/sleep.hpp>

#include "fixture.hpp"

#include <libpq-fe.h>

#include <cstring>
#include <deque>
#include <filesystem>
#include <mutex>
#include <optional>
#include <vector>

namespace {

using namespace roost;
using namespace roost::observe;
using namespace postgres_testing;
using postgres::connection;

class postgres_executors : public with_server {};

constexpr auto hang_limit = std::chrono::seconds(60);

std::ptrdiff_t count_threads() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}
// A side thread that has ended takes a moment to leave.
bool comes_to(std::ptrdiff_t threads) {
    for (const time_point limit = now() + hang_limit; count_threads() != threads && now() < limit;) {
        ::usleep(1000);
    }
    return count_threads() == threads;
}

// A thread pool as users have it: no driver, no timers.
class plain_pool {
public:
    plain_pool() : thread_([this] { run(); }) {}
    plain_pool(const plain_pool&) = delete;
    plain_pool& operator=(const plain_pool&) = delete;
    ~plain_pool() {
        ends_.store(true, seam::mo::seq_cst);
        thread_.join();
    }
    bool post(ext::work& w) noexcept {
        const std::lock_guard<seam::small_mutex> held(lock_);
        queue_.push_back(&w);
        return true;
    }

private:
    void run() {
        while (!ends_.load(seam::mo::seq_cst)) {
            if (ext::work* w = take()) {
                w->run();
            } else {
                ::usleep(100);
            }
        }
    }
    ext::work* take() {
        const std::lock_guard<seam::small_mutex> held(lock_);
        ext::work* const w = queue_.empty() ? nullptr : queue_.front();
        if (w != nullptr) {
            queue_.pop_front();
        }
        return w;
    }

    seam::atomic<bool> ends_{false};
    seam::small_mutex lock_;
    std::deque<ext::work*> queue_;
    seam::thread thread_;
};

task<> connect_to(std::optional<connection>* to, std::string conninfo, postgres::connect_options how) {
    to->emplace(co_await connection::connect(std::move(conninfo), how));
}
task<int> ask(connection* c, std::string sql) {
    const postgres::rows r = co_await c->query(std::move(sql));
    co_return r.get<int>(0, 0);
}

task<> use_once(std::string conninfo) {
    connection c = co_await connection::connect(std::move(conninfo), {});
    const int seven = co_await ask(&c, "select 7");
    EXPECT_EQ(seven, 7);
}

TEST_F(postgres_executors, POOL_55_on_a_runtime_there_is_no_thread_that_polls) {
    run(use_once(pg->conninfo()));
    const std::ptrdiff_t before = count_threads();
    const auto shared = std::make_shared<postgres::poller>("shared");
    postgres::connect_options how;
    how.sockets = shared;
    std::optional<connection> c;
    run(connect_to(&c, pg->conninfo(), how));
    EXPECT_EQ(run(ask(&*c, "select 7 from pg_sleep(0.01)")), 7);
    EXPECT_TRUE(comes_to(before)) << count_threads() << " threads, before " << before;
    static_cast<void>(shared->get_executor());
    EXPECT_TRUE(comes_to(before + 1)) << "a poller has one thread, if it is asked for";
}

TEST_F(postgres_executors, POOL_55_an_executor_without_a_driver_uses_the_pollers_thread) {
    plain_pool threads;
    ext::executor_adapter<plain_pool> where(threads);
    const std::ptrdiff_t before = count_threads();
    {
        std::optional<connection> c;
        block_on(where, connect_to(&c, pg->conninfo(), {}));
        EXPECT_EQ(block_on(where, ask(&*c, "select 7 from pg_sleep(0.01)")), 7);
        EXPECT_TRUE(comes_to(before + 1)) << count_threads() << " threads, before " << before;
    }
    EXPECT_TRUE(comes_to(before));
}

TEST_F(postgres_executors, POOL_55_limits_hold_on_an_executor_without_timers) {
    plain_pool threads;
    ext::executor_adapter<plain_pool> where(threads);
    postgres::connect_options how;
    how.connect_timeout = std::chrono::milliseconds(500);
    how.on_connect = "select pg_sleep(3600)";
    std::optional<connection> c;
    EXPECT_THROW(block_on(where, connect_to(&c, pg->conninfo(), how)), postgres::error);
}

TEST_F(postgres_executors, POOL_210_a_connection_is_used_on_one_executor_after_another) {
    std::optional<connection> c;
    run(connect_to(&c, pg->conninfo(), {}));
    const int process = run(ask(&*c, "select pg_backend_pid() from pg_sleep(0.01)"));
    {
        runtime other(runtime_options().workers(1));
        EXPECT_EQ(block_on(other, ask(&*c, "select pg_backend_pid() from pg_sleep(0.01)")), process);
    }
    plain_pool threads;
    ext::executor_adapter<plain_pool> where(threads);
    EXPECT_EQ(block_on(where, ask(&*c, "select pg_backend_pid() from pg_sleep(0.01)")), process);
    EXPECT_EQ(run(ask(&*c, "select pg_backend_pid() from pg_sleep(0.01)")), process);
}

// libpq closes the socket of the first host, and opens another one, mostly under the same number.
TEST_F(postgres_executors, POOL_206_each_host_of_a_list_has_a_socket_of_its_own) {
    std::string conninfo = pg->conninfo();
    const std::string port = " port=" + std::to_string(pg->port());
    conninfo.replace(conninfo.find(port), port.size(), " port=1,1," + std::to_string(pg->port()));
    conninfo.replace(conninfo.find("127.0.0.1"), std::strlen("127.0.0.1"), "127.0.0.1,127.0.0.1,127.0.0.1");
    std::optional<connection> c;
    run(connect_to(&c, conninfo, {}));
    EXPECT_EQ(run(ask(&*c, "select 7 from pg_sleep(0.01)")), 7);
}

// --- a number that is used again ------------------------------------------------------------------------------------------------

// Makes `number` the lowest that is free, as long as this object lives.
class lower_numbers {
public:
    explicit lower_numbers(int number) {
        for (int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC); fd >= 0; fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) {
            if (fd >= number) {
                ::close(fd);
                break;
            }
            taken_.push_back(fd);
        }
    }
    lower_numbers(const lower_numbers&) = delete;
    lower_numbers& operator=(const lower_numbers&) = delete;
    ~lower_numbers() {
        for (const int fd : taken_) {
            ::close(fd);
        }
    }

private:
    std::vector<int> taken_;
};

task<> sleep_in_server(connection* c) { static_cast<void>(co_await c->query("select pg_sleep(3600)")); }
// The server dies while the connection waits for it.
task<> lose(scope& s, connection* c, server* pg) {
    const job j = s.launch("sleeper", sleep_in_server(c));
    while (dump(j).find("waits on postgres query") == std::string::npos) {
        co_await sleep_for(std::chrono::milliseconds(1));
    }
    pg->kill(SIGQUIT);
    co_await j.join();
}
task<> lose_connection(connection* c, server* pg) {
    const auto ended = co_await as_outcome(with_scope(lose, c, pg));
    EXPECT_TRUE(ended.has_error());
}
task<> keep_answer(connection* c, int* to) { *to = co_await ask(c, "select 7 from pg_sleep(0.3)"); }
task<> close_beside(scope& s, connection* lost, connection* asks, int* got) {
    const job j = s.launch("asks", keep_answer(asks, got));
    while (dump(j).find("waits on postgres query") == std::string::npos) {
        co_await sleep_for(std::chrono::milliseconds(1));
    }
    lost->close();
    co_await j.join();
}
task<bool> is_answered_beside(connection* lost, connection* asks, int* got) {
    const bool ended = co_await move_on_after(hang_limit, with_scope(close_beside, lost, asks, got));
    co_return ended;
}

TEST_F(postgres_executors, POOL_210_closing_a_lost_connection_leaves_the_next_socket_of_its_number_alone) {
    std::optional<connection> lost;
    run(connect_to(&lost, pg->conninfo(), {}));
    const int number = PQsocket(lost->native_handle());
    run(lose_connection(&*lost, pg));
    ASSERT_TRUE(pg->start());
    ASSERT_EQ(PQsocket(lost->native_handle()), -1) << "libpq has closed it";
    const lower_numbers taken(number);
    std::optional<connection> next;
    run(connect_to(&next, pg->conninfo(), {}));
    ASSERT_EQ(PQsocket(next->native_handle()), number);
    int got = 0;
    EXPECT_TRUE(run(is_answered_beside(&*lost, &*next, &got))) << "its events went with the lost connection";
    EXPECT_EQ(got, 7);
}

}  // namespace
