// Two threads that enter and find names at the same time (OBS-185).

#include <roost/exec/detail/name_table.hpp>
#include <roost/testing/explore_gtest.hpp>

#include <string_view>

namespace {

using roost::detail::name_table;
using roost::seam::thread;
using roost::testing::check;

bool reads(const name_table& table, std::uint32_t number, std::string_view text) {
    char copy[name_table::longest];
    return std::string_view(copy, table.text_of(number, copy)) == text;
}

// A name that is found has its whole text.
MODEL(name_table_model, found_is_whole) {
    name_table table(2);
    thread other([&] {
        const std::uint32_t mine = table.number_of("request");
        check(mine != name_table::other && reads(table, mine, "request"), "OBS-185: entered and found again");
    });
    const std::uint32_t mine = table.number_of("request");
    check(mine != name_table::other && reads(table, mine, "request"), "OBS-185: found while it is entered");
    other.join();
    check(table.number_of("request") == mine, "OBS-185: one name, one number");
    check(table.overflowed() == 0, "OBS-185: both had room");
}

// A table without room gives `other`, and counts that.
MODEL(name_table_model, full) {
    name_table table(1);
    thread other([&] { static_cast<void>(table.number_of("a")); });
    const std::uint32_t mine = table.number_of("b");
    other.join();
    check(table.overflowed() == 1, "OBS-185: one of two had no room");
    check(mine == name_table::other || reads(table, mine, "b"), "OBS-185: and the other one is there");
}

// A reader of a number that it has not from the table sees nothing or the whole name.
MODEL(name_table_model, read_while_it_is_entered) {
    name_table table(1);
    thread other([&] { static_cast<void>(table.number_of("request")); });
    char copy[name_table::longest];
    const std::size_t size = table.text_of(1, copy);
    check(size == 0 || std::string_view(copy, size) == "request", "OBS-185: nothing or the whole name");
    other.join();
    check(reads(table, 1, "request"), "OBS-185: entered");
}

// Every name without room is counted.
MODEL(name_table_model, all_overflows_are_counted) {
    name_table table(1);
    static_cast<void>(table.number_of("a"));
    thread other([&] { static_cast<void>(table.number_of("b")); });
    static_cast<void>(table.number_of("c"));
    other.join();
    check(table.overflowed() == 2, "OBS-185: both are counted");
}

}  // namespace
