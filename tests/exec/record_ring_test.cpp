#include <roost/exec/detail/record_ring.hpp>

#include <gtest/gtest.h>

#include <vector>

using roost::detail::flight_record;
using roost::detail::record_ring;

namespace {

void write(record_ring& ring, std::uint64_t n) { ring.write(n, n + 1, n + 2, n + 3); }

TEST(record_ring, OBS_183_keeps_the_newest_and_counts_the_rest) {
    record_ring ring(8);
    std::vector<flight_record> to(ring.size());
    EXPECT_EQ(ring.copy(0, to.data(), to.size()).end, 0U);
    for (std::uint64_t n = 0; n < 5; ++n) {
        write(ring, n);
    }
    auto got = ring.copy(0, to.data(), to.size());
    EXPECT_EQ(got.begin, 0U);
    EXPECT_EQ(got.end, 5U);
    EXPECT_EQ(got.overwritten, 0U);
    for (std::uint64_t n = 5; n < 100; ++n) {
        write(ring, n);
    }
    got = ring.copy(0, to.data(), to.size());
    EXPECT_EQ(got.end, 100U);
    EXPECT_EQ(got.begin, 93U) << "one slot less than the size: the oldest may be being overwritten";
    EXPECT_EQ(got.overwritten, 93U);
    for (std::uint64_t n = got.begin; n < got.end; ++n) {
        EXPECT_EQ(to[got.offset + n - got.begin].word[3], n + 3);
    }
}

TEST(record_ring, OBS_183_a_copy_goes_on_where_another_stopped) {
    record_ring ring(8);
    std::vector<flight_record> to(ring.size());
    for (std::uint64_t n = 0; n < 3; ++n) {
        write(ring, n);
    }
    const auto first = ring.copy(0, to.data(), to.size());
    write(ring, 3);
    const auto second = ring.copy(first.end, to.data(), to.size());
    EXPECT_EQ(second.begin, 3U);
    EXPECT_EQ(second.end, 4U);
    EXPECT_EQ(second.overwritten, 0U);
    EXPECT_EQ(to[second.offset].word[0], 3U);
    const auto none = ring.copy(10, to.data(), to.size());
    EXPECT_EQ(none.begin, none.end);
    EXPECT_EQ(none.overwritten, 0U) << "a number that was not reached is no loss";
}

}  // namespace
