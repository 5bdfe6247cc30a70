// Scenario 13 for SQLite: the Nth allocation of this program, the Nth of SQLite itself and the Nth call of user code fail, in
// every public function of the adapter that can. Afterwards the same works, nothing has leaked, and the file holds what was
// committed. Executor and blocking lane are one thread, so that the fault comes wherever the memory is asked for.
//
// not tried: sqlite::rows::at, sqlite::rows::get, sqlite::to_value, sqlite::error::error: values made of strings and vectors

#include <roost/adapters/sqlite/connection.hpp>

#include "../../gauntlet/fault_rows.hpp"
#include "../../gauntlet/quiet.hpp"
#include "../one_thread.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <string>
#include <thread>

#include <unistd.h>

namespace {

using namespace roost;
using adapters_testing::one_thread;
using adapters_testing::play_on;
using adapters_testing::silence;
using gauntlet::user;
using sqlite::connection;

// --- the memory of SQLite ----------------------------------------------------------------------------------------------------

thread_local long sqlite_allocations_left = -1;  // negative: never fail
sqlite3_mem_methods real_memory;

bool fails_now() { return sqlite_allocations_left >= 0 && sqlite_allocations_left-- == 0; }
void* failing_malloc(int size) { return fails_now() ? nullptr : real_memory.xMalloc(size); }
void* failing_realloc(void* old, int size) { return fails_now() ? nullptr : real_memory.xRealloc(old, size); }

// Before SQLite is used for the first time, which is the only time it takes this.
const bool memory_is_ours = [] {
    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real_memory) != SQLITE_OK) {
        return false;
    }
    sqlite3_mem_methods ours = real_memory;
    ours.xMalloc = failing_malloc;
    ours.xRealloc = failing_realloc;
    return sqlite3_config(SQLITE_CONFIG_MALLOC, &ours) == SQLITE_OK;
}();

// --- what is tried -----------------------------------------------------------------------------------------------------------

const std::string long_text(100, 't');

// A file with a table of one column, for as long as the test runs.
class database {
public:
    database() {
        std::string name = (std::filesystem::temp_directory_path() / "roost_sqlite_XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
        file() = folder_ + "/faults.db";
        connection::open(file(), how()).query_blocking("create table t(name text)");
    }
    database(const database&) = delete;
    database& operator=(const database&) = delete;
    ~database() { std::filesystem::remove_all(folder_); }
    static std::string& file() {
        static std::string name;
        return name;
    }
    static sqlite::open_options how() {
        sqlite::open_options o;
        o.on_open = "pragma synchronous = off";
        return o;
    }

private:
    std::string folder_;
};

void opens() {
    const connection c = connection::open(database::file(), database::how());
    user();
}
void asks(connection& c) {
    const sqlite::rows r = c.query_blocking("select ? as a_name_that_is_too_long_to_be_short, ?, ?, ?, null", long_text,
                                            sqlite::blob(100), 7, 0.5);
    EXPECT_EQ(r.get<std::string>(0, 0), long_text);
    EXPECT_EQ(r.get<sqlite::blob>(0, 1).size(), 100U);
    EXPECT_EQ(r.get<std::int64_t>(0, 2), 7);
    EXPECT_EQ(r.columns().front(), "a_name_that_is_too_long_to_be_short");
    user();
}
void asks_in_memory() {
    connection c = connection::open(":memory:");
    c.query_blocking("pragma encoding = 'UTF-16'; create table t(name text)");  // so that reading has to convert
    c.query_blocking("insert into t values (?)", long_text);
    EXPECT_EQ(c.query_blocking("select name from t").get<std::string>(0, 0), long_text);
    asks(c);
}
task<> queries(connection& c) {
    sqlite::rows r = co_await c.query("select ? as a_name_that_is_too_long_to_be_short", long_text);
    EXPECT_EQ(r.get<std::string>(0, 0), long_text);
    user();
    std::vector<sqlite::value> values;
    values.push_back(sqlite::to_value(long_text));
    r = co_await c.query_values("select length(?)", std::move(values));
    EXPECT_EQ(r.get<std::int64_t>(0, 0), 100);
    co_await c.begin();
    user();
    co_await c.commit();
    EXPECT_FALSE(c.is_in_transaction());
}
void queries_in_task() {
    one_thread where;
    connection c = connection::open(":memory:");
    play_on(where, queries(c));
}

pool_options one_connection(one_thread& where) {
    pool_options o(1, "db");
    o.where = where;
    o.timers = where.timers();
    o.on_error = [](const pool_error&) {};
    return o;
}
// The loan of a connection, and proof that it came back.
template <class Use>
void with_pool(Use use) {
    one_thread where;
    std::exception_ptr failed;
    try {
        pool<connection> db = sqlite::make_pool(database::file(), one_connection(where), database::how());
        try {
            play_on(where, use(db));
        } catch (...) {
            failed = std::current_exception();
        }
        EXPECT_EQ(db.stats().out, 0U);
    } catch (...) {
        failed = std::current_exception();
    }
    where.run();  // what the pool closes
    if (failed) {
        std::rethrow_exception(failed);
    }
}
task<> borrows(pool<connection>& db) {
    for (int i = 0; i < 2; ++i) {
        pooled<connection> c = (co_await db.acquire("borrower")).value();
        static_cast<void>(co_await c->query("select 1"));
        user();
    }
}
task<> inserts_two(connection& c) {
    static_cast<void>(co_await c.query("insert into t values (?)", long_text));
    user();
    static_cast<void>(co_await c.query("insert into t values (?)", long_text));
    user();
}
task<> transacts(pool<connection>& db) {
    pooled<connection> c = (co_await db.acquire("transaction")).value();
    co_await sqlite::with_transaction(c, inserts_two);
}
std::int64_t rows_in_file() {
    connection c = connection::open(database::file(), database::how());
    return c.query_blocking("select count(*) from t").get<std::int64_t>(0, 0);
}
void transacts_or_not() {
    bool failed = false;
    std::int64_t before = 0;
    const auto unharmed = [](auto look) {
        const gauntlet::calm memory;
        const long kept = std::exchange(sqlite_allocations_left, -1);
        look();
        sqlite_allocations_left = kept;
    };
    unharmed([&] { before = rows_in_file(); });
    std::exception_ptr why;
    try {
        with_pool(transacts);
    } catch (...) {
        failed = true;
        why = std::current_exception();
    }
    unharmed([&] {
        const std::int64_t added = rows_in_file() - before;
        EXPECT_TRUE(added == 2 || (failed && added == 0)) << added << " rows of a transaction of two";
    });
    if (failed) {
        std::rethrow_exception(why);
    }
}

const gauntlet::fault_row table[] = {
    {"sqlite::connection::open", opens},
    {"sqlite::connection::query_blocking", asks_in_memory},
    // also sqlite::connection::query_values, sqlite::connection::begin, sqlite::connection::commit
    {"sqlite::connection::query", queries_in_task},
    {"sqlite::make_pool", [] { with_pool(borrows); }},
    {"sqlite::with_transaction", transacts_or_not},
};

TEST(sqlite_faults, GAUNTLET_13_the_nth_allocation_and_the_nth_call_fail_in_the_adapter) {
    const database here;
    const gauntlet::quiet q("scenario 13");
    const silence nothing_said;
    const long faults = gauntlet::try_rows(table);
    EXPECT_EQ(sqlite3_memory_used(), 0);
    q.say("%zu rows of SQLite, %ld faults, none leaked, the same worked afterwards", std::size(table), faults);
}

// True: it went through with nothing left to fail.
bool attempt_without_sqlite_memory(const gauntlet::fault_row& r, long n) {
    bool threw = false;
    sqlite_allocations_left = n;
    try {
        r.act();
    } catch (const sqlite::error& e) {
        threw = true;
        EXPECT_EQ(e.code(), SQLITE_NOMEM) << e.what();
    } catch (const pool_error& e) {
        threw = true;
        EXPECT_THROW(std::rethrow_exception(e.cause()), sqlite::error) << e.what();
    } catch (const std::bad_alloc&) {
        threw = true;
    } catch (const std::exception& e) {
        ADD_FAILURE() << r.function << ": failure " << n << " came out as " << e.what();
    }
    const bool untouched = sqlite_allocations_left >= 0;
    sqlite_allocations_left = -1;
    EXPECT_FALSE(threw && untouched) << r.function << ": failed without a fault";
    EXPECT_NO_THROW(r.act()) << r.function << ": does not work after failure " << n;
    EXPECT_EQ(sqlite3_memory_used(), 0) << r.function << ": failure " << n;
    return untouched;
}

TEST(sqlite_faults, GAUNTLET_13_POOL_50_the_nth_allocation_of_sqlite_itself_fails) {
    ASSERT_TRUE(memory_is_ours);
    const database here;
    const gauntlet::quiet q("scenario 13");
    const silence nothing_said;
    long faults = 0;
    for (const gauntlet::fault_row& r : table) {
        bool over = false;
        long n = 0;
        for (; n < 5000 && !over; ++n) {
            std::thread([&] { over = attempt_without_sqlite_memory(r, n); }).join();
        }
        EXPECT_TRUE(over) << r.function;
        faults += n - 1;
    }
    EXPECT_GT(faults, 100) << "SQLite asks for memory elsewhere";
    q.say("%zu rows, %ld allocations of SQLite that failed, none leaked", std::size(table), faults);
}

}  // namespace
