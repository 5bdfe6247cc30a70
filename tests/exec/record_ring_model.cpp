// Every interleaving of a writer that overwrites a ring and a reader that copies it (OBS-183).

#include <roost/exec/detail/record_ring.hpp>
#include <roost/testing/explore_gtest.hpp>

namespace {

using roost::detail::flight_record;
using roost::detail::record_ring;
using roost::seam::thread;
using roost::testing::check;

// Every word of record n says n, so that words of different records are noticed.
void write(record_ring& ring, std::uint64_t n) { ring.write(n * 10 + 1, n * 10 + 2, n * 10 + 3, n * 10 + 4); }

void check_copy(const record_ring::copied& got, const flight_record* records, std::uint64_t from) {
    check(got.begin >= from && got.begin <= got.end, "OBS-183: a range of what was asked for");
    check(got.overwritten == got.begin - from, "OBS-183: what is missing is counted");
    for (std::uint64_t n = got.begin; n < got.end; ++n) {
        const flight_record& r = records[got.offset + static_cast<std::size_t>(n - got.begin)];
        for (std::uint64_t w = 0; w < flight_record::words; ++w) {
            check(r.word[w] == n * 10 + w + 1, "OBS-183: a record in a copy is whole, and in its place");
        }
    }
}

// The writer goes around while the reader copies: what it may have overwritten is discarded.
MODEL(record_ring_model, nothing_torn) {
    record_ring ring(2);
    write(ring, 0);
    write(ring, 1);
    thread writer([&] {
        write(ring, 2);
        write(ring, 3);
    });
    flight_record records[2];
    const auto got = ring.copy(0, records, ring.size());
    check_copy(got, records, 0);
    writer.join();
    check(ring.written() == 4, "OBS-183: the writer never waits or refuses");
}

// A position that the reader sees stands for records that it sees whole.
MODEL(record_ring_model, nothing_stale) {
    record_ring ring(4);
    thread writer([&] {
        write(ring, 0);
        write(ring, 1);
    });
    flight_record records[4];
    const auto got = ring.copy(0, records, ring.size());
    check(got.begin == 0, "OBS-183: nothing was overwritten");
    check_copy(got, records, 0);
    writer.join();
}

// A reader that comes back goes on where it stopped, and the counts of both copies add up.
MODEL(record_ring_model, two_copies_add_up) {
    record_ring ring(2);
    thread writer([&] {
        for (std::uint64_t n = 0; n < 3; ++n) {
            write(ring, n);
        }
    });
    flight_record records[2];
    const auto first = ring.copy(0, records, ring.size());
    check_copy(first, records, 0);
    const auto second = ring.copy(first.end, records, ring.size());
    check_copy(second, records, first.end);
    writer.join();
    const auto last = ring.copy(second.end, records, ring.size());
    check_copy(last, records, second.end);
    const std::uint64_t kept = first.end - first.begin + second.end - second.begin + last.end - last.begin;
    check(kept + first.overwritten + second.overwritten + last.overwritten == 3, "OBS-183: kept or counted as lost");
}

}  // namespace
