#include <roost/adapters/postgres/values.hpp>

#include <gtest/gtest.h>

#include <libpq-fe.h>

namespace {

namespace postgres = roost::postgres;

TEST(postgres_values, POOL_54_parameters_travel_as_text) {
    EXPECT_EQ(postgres::to_parameter(nullptr), std::nullopt);
    EXPECT_EQ(postgres::to_parameter(-12), "-12");
    EXPECT_EQ(postgres::to_parameter(0.5), "0.5");
    EXPECT_EQ(postgres::to_parameter(true), "t");
    EXPECT_EQ(postgres::to_parameter("text"), "text");
    EXPECT_EQ(postgres::to_parameter(std::string_view("view")), "view");
    EXPECT_EQ(postgres::to_parameter(postgres::parameter()), std::nullopt);
}

TEST(postgres_values, POOL_54_no_rows_are_empty) {
    const postgres::rows none;
    EXPECT_EQ(none.size(), 0U);
    EXPECT_EQ(none.changes(), 0);
    EXPECT_THROW(static_cast<void>(none.text(0, 0)), std::out_of_range);
    EXPECT_THROW(static_cast<void>(none.column(0)), std::out_of_range);
}

TEST(postgres_values, POOL_54_rows_own_what_the_server_sent) {
    PGresult* made = PQmakeEmptyPGresult(nullptr, PGRES_TUPLES_OK);
    PGresAttDesc columns[2] = {};
    char number[] = "number";
    char other[] = "other";
    columns[0].name = number;
    columns[1].name = other;
    ASSERT_TRUE(PQsetResultAttrs(made, 2, columns));
    char text[] = "42";
    ASSERT_TRUE(PQsetvalue(made, 0, 0, text, 2));
    ASSERT_TRUE(PQsetvalue(made, 0, 1, nullptr, -1));
    postgres::rows first(made);
    const postgres::rows r = std::move(first);
    EXPECT_EQ(r.size(), 1U);
    EXPECT_EQ(r.column(0), "number");
    EXPECT_EQ(r.get<int>(0, 0), 42);
    EXPECT_EQ(r.get<std::string>(0, 0), "42");
    EXPECT_TRUE(r.is_null(0, 1));
    EXPECT_EQ(r.text(0, 1), "");
    EXPECT_THROW(static_cast<void>(r.get<int>(0, 1)), std::invalid_argument);
}

TEST(postgres_values, POOL_54_an_error_knows_its_state) {
    const postgres::error e("23505", "duplicate key\n", false);
    EXPECT_TRUE(e.is_constraint());
    EXPECT_FALSE(e.is_cancelled() || e.is_transient() || e.breaks_connection());
    EXPECT_STREQ(e.what(), "postgres: duplicate key (23505)");
}

}  // namespace
