#include <roost/exec/detail/name_table.hpp>

#include <gtest/gtest.h>

#include <string>

using roost::detail::name_table;

namespace {

std::string text_of(const name_table& table, std::uint32_t number) {
    char copy[name_table::longest];
    return {copy, table.text_of(number, copy)};
}

TEST(name_table, OBS_185_one_number_per_name) {
    name_table table(64);
    const std::uint32_t a = table.number_of("request 17");
    const std::uint32_t b = table.number_of("request 18");
    EXPECT_NE(a, b);
    EXPECT_EQ(table.number_of(std::string("request ") + "17"), a);
    EXPECT_EQ(text_of(table, a), "request 17");
    EXPECT_EQ(text_of(table, b), "request 18");
    const std::string odd("q\"\n\xff\0x", 6);
    EXPECT_EQ(text_of(table, table.number_of(odd)), odd) << "bytes are kept as they are";
    EXPECT_EQ(text_of(table, name_table::other), "");
    EXPECT_EQ(text_of(table, 1'000'000), "");
}

TEST(name_table, OBS_185_long_names_are_cut_and_no_room_is_counted) {
    name_table table(16);
    const std::string longest(name_table::longest, 'x');
    EXPECT_EQ(text_of(table, table.number_of(std::string(10'000, 'x'))), longest);
    std::uint64_t without = 0;
    for (int i = 0; i < 100'000; ++i) {
        without += table.number_of("name " + std::to_string(i)) == name_table::other ? 1 : 0;
    }
    EXPECT_GE(without, 100'000U - 15);
    EXPECT_EQ(table.overflowed(), without);
}

}  // namespace
