#include <roost/io/error.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

using namespace roost;

namespace {

constexpr io::errc all[] = {io::errc::end_of_stream, io::errc::too_long,  io::errc::timed_out,
                            io::errc::closed,        io::errc::cancelled, io::errc::no_address};

TEST(io_error, IO_4_each_code_has_a_message_of_its_own) {
    std::set<std::string> messages;
    for (const io::errc e : all) {
        const std::error_code code = e;
        EXPECT_EQ(&code.category(), &io::io_category());
        EXPECT_NE(code.message(), "unknown io error");
        messages.insert(code.message());
    }
    EXPECT_EQ(messages.size(), std::size(all));
    EXPECT_EQ(std::error_code(99, io::io_category()).message(), "unknown io error");
    EXPECT_STREQ(io::io_category().name(), "roost.io");
}

TEST(io_error, IO_4_codes_equal_the_conditions_of_the_standard) {
    EXPECT_EQ(std::error_code(io::errc::timed_out), std::errc::timed_out);
    EXPECT_EQ(std::error_code(io::errc::cancelled), std::errc::operation_canceled);
    EXPECT_EQ(std::error_code(io::errc::closed), std::errc::bad_file_descriptor);
    EXPECT_NE(std::error_code(io::errc::end_of_stream), std::errc::timed_out);
}

TEST(io_error, IO_2_the_exception_names_the_operation_and_the_cause) {
    const io::error e(io::errc::too_long, "read_until", 5);
    const std::string text = e.what();
    EXPECT_NE(text.find("read_until"), std::string::npos);
    EXPECT_NE(text.find("the delimiter did not come within the limit"), std::string::npos);
    EXPECT_EQ(e.transferred(), 5U);
}

}  // namespace
