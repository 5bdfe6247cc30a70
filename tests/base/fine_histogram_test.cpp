#include <roost/base/detail/fine_histogram.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>
#include <vector>

namespace {

using roost::detail::distribution;
using roost::detail::fine_histogram;

TEST(fine_histogram, OBS_141_quantiles_are_within_a_thirtysecond) {
    std::mt19937_64 chance(7);
    std::lognormal_distribution<double> times(12, 3);
    fine_histogram all(1);
    std::vector<std::uint64_t> values;
    for (int i = 0; i < 20000; ++i) {
        values.push_back(static_cast<std::uint64_t>(times(chance)));
        all.record(values.back());
    }
    std::ranges::sort(values);
    const distribution seen = all.read();
    for (const double q : {0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0}) {
        const auto exact = static_cast<double>(values[static_cast<std::size_t>(std::ceil(q * 20000)) - 1]);
        EXPECT_NEAR(static_cast<double>(seen.quantile(q)), exact, exact / 32 + 0.5) << q;
    }
}

TEST(fine_histogram, OBS_142_counts_and_sums_what_many_threads_record) {
    fine_histogram all(3);
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 6; ++t) {
        threads.emplace_back([&, t] {
            for (std::uint64_t i = 0; i < 1000; ++i) {
                all.record(i * 1000 + t, 2);
            }
        });
    }
    for (int i = 0; i < 20; ++i) {
        EXPECT_LE(all.read().count(), 12000U);
    }
    for (std::thread& t : threads) {
        t.join();
    }
    const distribution seen = all.read();
    EXPECT_EQ(seen.count(), 12000U);
    EXPECT_EQ(seen.sum(), 2 * (6 * 999 * 1000 / 2 * std::uint64_t(1000) + 1000 * 15));
}

TEST(fine_histogram, OBS_142_merges_and_answers_for_none_and_for_extremes) {
    EXPECT_EQ(distribution().quantile(0.5), 0U);
    fine_histogram one(1);
    fine_histogram two(1);
    one.record(0);
    two.record(~std::uint64_t(0));
    distribution both = one.read();
    both.merge(two.read());
    EXPECT_EQ(both.count(), 2U);
    EXPECT_EQ(both.sum(), ~std::uint64_t(0));
    EXPECT_EQ(both.quantile(0), 0U);
    EXPECT_EQ(both.quantile(0.5), 0U);
    EXPECT_GT(both.quantile(1), ~std::uint64_t(0) / 32 * 31);
    EXPECT_EQ(both.count_up_to(0), 1U);
    EXPECT_EQ(both.count_up_to(~std::uint64_t(0)), 2U);
}

}  // namespace
