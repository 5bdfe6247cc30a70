#include <roost/adapters/sqlite/values.hpp>

#include <gtest/gtest.h>

#include <sqlite3.h>

namespace {

namespace sqlite = roost::sqlite;

TEST(sqlite_values, POOL_50_a_value_has_one_of_five_classes) {
    EXPECT_EQ(sqlite::to_value(nullptr).index(), 0U);
    EXPECT_EQ(std::get<std::int64_t>(sqlite::to_value(true)), 1);
    EXPECT_EQ(std::get<std::int64_t>(sqlite::to_value(-7)), -7);
    EXPECT_EQ(std::get<double>(sqlite::to_value(1.5F)), 1.5);
    EXPECT_EQ(std::get<std::string>(sqlite::to_value("text")), "text");
    EXPECT_EQ(std::get<std::string>(sqlite::to_value(std::string_view("view"))), "view");
    EXPECT_EQ(std::get<sqlite::blob>(sqlite::to_value(sqlite::blob(3))).size(), 3U);
    EXPECT_EQ(sqlite::to_value(sqlite::value(std::int64_t{4})), sqlite::value(std::int64_t{4}));
}

TEST(sqlite_values, POOL_200_an_integer_that_does_not_fit_is_refused) {
    EXPECT_EQ(std::get<std::int64_t>(sqlite::to_value(std::uint64_t{INT64_MAX})), INT64_MAX);
    EXPECT_THROW(static_cast<void>(sqlite::to_value(std::uint64_t{INT64_MAX} + 1)), std::out_of_range);
    EXPECT_EQ(std::get<std::int64_t>(sqlite::to_value(INT64_MIN)), INT64_MIN);
}

TEST(sqlite_values, POOL_50_no_rows_are_empty) {
    const sqlite::rows none;
    EXPECT_EQ(none.size(), 0U);
    EXPECT_TRUE(none.empty());
    EXPECT_THROW(static_cast<void>(none.at(0, 0)), std::out_of_range);
}

TEST(sqlite_values, POOL_50_an_error_knows_its_code_and_what_was_tried) {
    const sqlite::error e(SQLITE_CONSTRAINT_UNIQUE, "step", "UNIQUE constraint failed");
    EXPECT_EQ(e.code(), SQLITE_CONSTRAINT);
    EXPECT_EQ(e.extended_code(), SQLITE_CONSTRAINT_UNIQUE);
    EXPECT_TRUE(e.is_constraint());
    EXPECT_FALSE(e.is_interrupt() || e.is_busy() || e.breaks_connection());
    EXPECT_STREQ(e.what(), "sqlite: step: UNIQUE constraint failed (2067)");
    EXPECT_TRUE(sqlite::error(SQLITE_IOERR_READ, "step", "disk").breaks_connection());
    EXPECT_TRUE(sqlite::error(SQLITE_BUSY_SNAPSHOT, "step", "busy").is_busy());
}

}  // namespace
