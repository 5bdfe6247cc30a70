#include <roost/io/result.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>

using namespace roost;

namespace {

TEST(io_result, IO_1_a_result_is_a_value_or_a_code) {
    const io::result<std::string> good(std::in_place, "text");
    EXPECT_TRUE(good);
    EXPECT_TRUE(good.has_value());
    EXPECT_FALSE(good.code());
    EXPECT_EQ(*good, "text");
    EXPECT_EQ(good.value(), "text");
    EXPECT_EQ(good.status(), wait_status::done);
    EXPECT_EQ(good.error(), nullptr);

    const io::result<std::string> bad(make_error_code(io::errc::too_long), "read_until", 7);
    EXPECT_FALSE(bad);
    EXPECT_EQ(bad.code(), io::errc::too_long);
    EXPECT_EQ(bad.transferred(), 7U);
    EXPECT_NE(bad.error(), nullptr);
}

TEST(io_result, IO_1_a_count_is_what_was_transferred) {
    const io::result<std::size_t> good(std::in_place, 12U);
    EXPECT_EQ(good.transferred(), 12U);
    const io::result<std::size_t> part(make_error_code(io::errc::cancelled), "read_exactly", 5);
    EXPECT_EQ(part.transferred(), 5U);
}

TEST(io_result, IO_1_a_value_can_be_moved_out) {
    io::result<std::unique_ptr<int>> made(std::in_place, std::make_unique<int>(5));
    EXPECT_EQ(*made->get(), 5);
    const std::unique_ptr<int> mine = std::move(made).value();
    EXPECT_EQ(*mine, 5);
    io::result<std::unique_ptr<int>> second(std::in_place, std::make_unique<int>(6));
    const std::unique_ptr<int> other = *std::move(second);
    EXPECT_EQ(*other, 6);
}

TEST(io_result, IO_2_value_throws_the_code_with_operation_and_count) {
    const io::result<std::size_t> bad(std::error_code(ECONNRESET, std::system_category()), "read_exactly", 3);
    try {
        static_cast<void>(bad.value());
        FAIL() << "no exception";
    } catch (const io::error& e) {
        EXPECT_EQ(e.code(), std::errc::connection_reset);
        EXPECT_EQ(e.transferred(), 3U);
        EXPECT_NE(std::string(e.what()).find("read_exactly"), std::string::npos);
    }
    io::result<> nothing(make_error_code(io::errc::closed), "shutdown_write");
    EXPECT_THROW(nothing.value(), io::error);
    EXPECT_THROW(std::rethrow_exception(nothing.error()), io::error);
}

TEST(io_result, IO_2_an_outcome_carries_the_error) {
    EXPECT_EQ(io::result<int>(std::in_place, 4).to_outcome().value(), 4);
    EXPECT_TRUE(io::result<>(std::in_place).to_outcome().has_value());
    auto bad = io::result<int>(make_error_code(io::errc::end_of_stream), "read").to_outcome();
    EXPECT_FALSE(bad.has_value());
    EXPECT_THROW(static_cast<void>(std::move(bad).value()), io::error);
}

TEST(io_result_death, IO_3_the_value_of_a_failed_result_ends_the_program) {
    const io::result<int> bad(make_error_code(io::errc::timed_out), "read_some");
    EXPECT_DEATH(static_cast<void>(*bad), "read_some.*the result has no value: timed out");
}

TEST(io_result, IO_4_the_status_of_a_code) {
    const auto status = [](std::error_code code) { return io::result<>(code).status(); };
    EXPECT_EQ(status(make_error_code(io::errc::timed_out)), wait_status::expired);
    EXPECT_EQ(status(make_error_code(io::errc::cancelled)), wait_status::cancelled);
    EXPECT_EQ(status(make_error_code(io::errc::closed)), wait_status::closed);
    EXPECT_EQ(status(make_error_code(io::errc::end_of_stream)), wait_status::closed);
    EXPECT_EQ(status(std::make_error_code(std::errc::connection_reset)), wait_status::failed);
}

}  // namespace
