// Texts and connections that are not what SQLite expects: each is an answer or an error, never a hang, a crash or a part.

#include "fixture.hpp"

#include <sqlite3.h>

#include <csignal>

#include <sys/resource.h>

namespace {

using namespace roost;
using namespace roost::seam;
using sqlite::connection;

class sqlite_script : public sqlite_testing::with_folder {};

// The message of the error, or nothing.
template <class... Args>
std::string refusal(connection& c, std::string_view sql, Args&&... args) {
    try {
        c.query_blocking(sql, std::forward<Args>(args)...);
    } catch (const sqlite::error& e) {
        return e.what();
    }
    return "";
}

TEST_F(sqlite_script, POOL_200_text_with_a_nul_is_refused_and_nothing_of_it_runs) {
    connection c = connection::open(":memory:");
    c.query_blocking("create table t(i)");
    for (const std::string& sql :
         {std::string("select 1\0", 9), std::string("\0", 1), std::string("insert into t values (1);\0", 26),
          std::string("insert into t values (1); \0insert into t values (2)", 50)}) {
        EXPECT_NE(refusal(c, sql).find("the SQL text has a NUL at byte"), std::string::npos);
    }
    EXPECT_EQ(c.query_blocking("select count(*) from t").get<std::int64_t>(0, 0), 0);
    EXPECT_FALSE(c.is_broken());
}

TEST_F(sqlite_script, POOL_200_an_argument_with_a_nul_is_kept_whole) {
    connection c = connection::open(":memory:");
    const std::string text("a\0b", 3);
    EXPECT_EQ(c.query_blocking("select ?", text).get<std::string>(0, 0), text);
}

TEST_F(sqlite_script, POOL_200_a_path_with_a_nul_is_refused) {
    EXPECT_THROW(static_cast<void>(connection::open(file() + std::string("\0.db", 4))), sqlite::error);
    EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(sqlite_script, POOL_200_comments_and_empty_statements_are_no_statements) {
    connection c = connection::open(":memory:");
    for (const char* sql :
         {"select ?; -- c", "select ?; -- c\n", "select ?;;\f; /* c */ ", "select ?; /* not closed", "select ? -- c",
          "/* c */ -- d\n ; select ?", "-- c\r\n select ?;", "select ?; /**/", "select ?; --"}) {
        EXPECT_EQ(refusal(c, sql, 1), "") << sql;
    }
    for (const char* sql : {"", ";", " ; ;; ", "-- only", "/* only */", "/* not closed", "\xef\xbb\xbf"}) {
        EXPECT_EQ(c.query_blocking(sql).width(), 0U) << sql;
    }
    EXPECT_EQ(c.query_blocking("select 1; -- the last result is kept").size(), 1U);
    EXPECT_EQ(c.query_blocking("-- first\nselect 1; /* then */ select 2").get<std::int64_t>(0, 0), 2);
}

TEST_F(sqlite_script, POOL_200_arguments_without_a_place_are_refused) {
    connection c = connection::open(":memory:");
    EXPECT_NE(refusal(c, "", 1), "");
    EXPECT_NE(refusal(c, "-- only", 1), "");
    EXPECT_NE(refusal(c, "select ?; select 1", 1), "");
    EXPECT_NE(refusal(c, "select ?; /* c */ select ?", 1), "");
    EXPECT_NE(refusal(c, "select ?, ?", 1).find("2 parameters, but 1 arguments"), std::string::npos);
    EXPECT_FALSE(c.is_broken());
}

// --- closed -------------------------------------------------------------------------------------------------------------------

TEST_F(sqlite_script, POOL_201_a_closed_connection_answers_with_an_error) {
    connection c = connection::open(":memory:");
    c.query_blocking("begin");
    c.close_blocking();
    c.close_blocking();
    EXPECT_NE(refusal(c, "select 1").find("closed"), std::string::npos);
    c.interrupt();
    EXPECT_TRUE(c.is_broken());
    EXPECT_FALSE(c.is_in_transaction());
    EXPECT_FALSE(c.make_ready());
    EXPECT_EQ(c.native_handle(), nullptr);
    EXPECT_THROW(static_cast<void>(block_on(rt, c.query("select 1"))), sqlite::error);
}

TEST_F(sqlite_script, POOL_201_a_connection_that_was_moved_away_answers_as_a_closed_one) {
    connection c = connection::open(":memory:");
    const connection other = std::move(c);
    EXPECT_NE(refusal(c, "select 1"), "");  // NOLINT(bugprone-use-after-move): that is what is tried
    c.interrupt();
    c.close_blocking();
    EXPECT_FALSE(c.is_in_transaction());
    EXPECT_FALSE(c.make_ready());
    EXPECT_EQ(c.native_handle(), nullptr);
}

TEST_F(sqlite_script, POOL_201_the_pool_replaces_a_connection_that_was_given_back_closed) {
    pool<connection> db = sqlite::make_pool(file(), options(1));
    db.acquire_blocking().value()->close_blocking();
    EXPECT_EQ(db.acquire_blocking().value()->query_blocking("select 1").size(), 1U);
    EXPECT_EQ(db.stats().created, 2U);
}

TEST_F(sqlite_script, POOL_201_an_interrupt_may_meet_a_close) {
    for (int i = 0; i < 50; ++i) {
        connection c = connection::open(":memory:");
        thread other([&] {
            for (int k = 0; k < 20; ++k) {
                c.interrupt();
            }
        });
        c.close_blocking();
        other.join();
    }
}

// --- no room ------------------------------------------------------------------------------------------------------------------

// The largest size that files of this process may have, for as long as it lives.
class file_limit {
public:
    explicit file_limit(rlim_t bytes) {
        static_cast<void>(::getrlimit(RLIMIT_FSIZE, &before_));
        handler_ = std::signal(SIGXFSZ, SIG_IGN);
        rlimit less = before_;
        less.rlim_cur = bytes;
        static_cast<void>(::setrlimit(RLIMIT_FSIZE, &less));
    }
    file_limit(const file_limit&) = delete;
    file_limit& operator=(const file_limit&) = delete;
    ~file_limit() {
        static_cast<void>(::setrlimit(RLIMIT_FSIZE, &before_));
        std::signal(SIGXFSZ, handler_);
    }

private:
    rlimit before_{};
    void (*handler_)(int) = nullptr;
};

task<> insert_many(pool<connection>& db, int* committed) {
    for (int i = 0; i < 100; ++i) {
        pooled<connection> c = (co_await db.acquire("insert")).value();
        static_cast<void>(co_await c->query("insert into t values (?)", std::string(20'000, 'x')));
        ++*committed;
    }
}
task<std::int64_t> count_rows(pool<connection>& db) {
    pooled<connection> c = (co_await db.acquire("count")).value();
    const sqlite::rows r = co_await c->query("select count(*) from t");
    co_return r.get<std::int64_t>(0, 0);
}

TEST_F(sqlite_script, POOL_50_a_full_disk_is_an_error_and_what_was_committed_stays) {
    connection::open(file()).query_blocking("create table t(text)");
    pool<connection> db = sqlite::make_pool(file(), options(1));
    int committed = 0;
    {
        const file_limit small(1'000'000);
        EXPECT_THROW(block_on(rt, insert_many(db, &committed)), sqlite::error);
    }
    EXPECT_GT(committed, 0);
    EXPECT_EQ(block_on(rt, count_rows(db)), committed);
    int more = 0;
    block_on(rt, insert_many(db, &more));
    EXPECT_EQ(block_on(rt, count_rows(db)), committed + 100);
}

TEST_F(sqlite_script, POOL_50_a_full_database_is_an_error_and_the_connection_stays) {
    connection c = connection::open(file());
    c.query_blocking("create table t(text); pragma max_page_count = 20");
    EXPECT_NE(refusal(c, "insert into t values (?)", std::string(200'000, 'x')).find("full"), std::string::npos);
    EXPECT_FALSE(c.is_broken());
    c.query_blocking("pragma max_page_count = 2000");
    EXPECT_EQ(refusal(c, "insert into t values (?)", std::string(200'000, 'x')), "");
}

}  // namespace
