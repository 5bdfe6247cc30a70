// A read counts every record that happened before it, once, and its sum includes what it counts.
#include <roost/base/detail/fine_histogram.hpp>
#include <roost/testing/explore_gtest.hpp>

namespace {

using namespace roost::seam;
using roost::testing::check;

// Small enough for a whole search. The shipped code but for the mapping, which log_buckets_test tests alone.
struct two_buckets {
    static constexpr std::size_t count = 2;
    static constexpr std::size_t index(std::uint64_t value) noexcept { return value < 10 ? 0 : 1; }
    static constexpr std::uint64_t middle(std::size_t bucket) noexcept { return bucket == 0 ? 5 : 15; }
};
using histogram = roost::detail::basic_histogram<two_buckets>;

void check_whole(const histogram::distribution& seen) {
    check(seen.count() == seen.in_bucket(0) + seen.in_bucket(1), "OBS-142: the count is the sum of the buckets");
    check(seen.sum() >= seen.in_bucket(0) * 3 + seen.in_bucket(1) * 12, "OBS-142: the sum includes what is counted");
}

// The first two threads have a part each.
MODEL(fine_histogram_model, sum_of_what_is_counted) {
    histogram all(3);
    thread other([&] { all.record(12); });
    all.record(3);
    const auto seen = all.read();
    check(seen.in_bucket(0) == 1 && seen.count() <= 2, "OBS-142: what happened before is counted, nothing is invented");
    check_whole(seen);
    other.join();
    check(all.read().count() == 2 && all.read().sum() == 15, "OBS-142: nothing is lost");
}

// All threads share the one part.
MODEL(fine_histogram_model, sum_of_what_is_counted_shared) {
    histogram all(1);
    thread other([&] {
        all.record(3);
        all.record(12);
    });
    check_whole(all.read());
    other.join();
}

MODEL(fine_histogram_model, threads_that_share) {
    histogram all(1);
    thread other([&] { all.record(3); });
    all.record(3);
    const auto seen = all.read();
    check(seen.count() >= 1 && seen.count() <= 2, "OBS-142: what happened before is counted");
    check_whole(seen);
    other.join();
    check(all.read().count() == 2 && all.read().sum() == 6, "OBS-142: nothing is lost");
}

// One thread with a part of its own, one that shares, one that reads twice: later reads see at least as much.
MODEL(fine_histogram_model, reads_grow) {
    histogram all(2);
    thread other([&] { all.record(12, 4); });
    thread reader([&] {
        const auto first = all.read();
        const auto second = all.read();
        check(first.count() <= second.count(), "OBS-142: a count never goes back");
    });
    all.record(3);
    reader.join();
    other.join();
    check(all.read().count() == 5 && all.read().sum() == 51, "OBS-142: nothing is lost");
}

}  // namespace
