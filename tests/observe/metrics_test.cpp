#include <roost/observe/metrics.hpp>

#include <roost/base/error.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

using namespace roost;
using metrics::registry;

static_assert(std::is_nothrow_copy_constructible_v<metrics::counter> && std::is_nothrow_copy_assignable_v<metrics::counter>);
static_assert(noexcept(std::declval<const metrics::counter&>().add()));
static_assert(noexcept(std::declval<const metrics::gauge&>().set(1)));
static_assert(noexcept(std::declval<const metrics::histogram&>().record(1.0)));

bool contains(const std::string& text, std::string_view line) {
    return ("\n" + text).find("\n" + std::string(line) + "\n") != std::string::npos;
}

template <class Fn>
std::string refusal(Fn fn) {
    try {
        fn();
    } catch (const error& e) {
        return e.kind() == errc::refused ? e.what() : "another error";
    }
    return "none";
}

TEST(metrics, OBS_140_counters_add_up_what_threads_count) {
    const registry in;
    const metrics::counter done("work_done_total", "Work done.", in);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([done] {
            for (int i = 0; i < 1000; ++i) {
                done.add(2);
            }
        });
    }
    for (std::thread& t : threads) {
        t.join();
    }
    EXPECT_EQ(done.value(), 8000U);
    EXPECT_TRUE(contains(to_prometheus(in), "work_done_total 8000"));
}

TEST(metrics, OBS_143_gauges_are_set_and_changed) {
    const registry in;
    const metrics::gauge depth("depth", "How deep.", in);
    depth.set(2.5);
    depth.add(-1);
    EXPECT_EQ(depth.value(), 1.5);
    EXPECT_TRUE(contains(to_prometheus(in), "depth 1.5"));
}

TEST(metrics, OBS_144_histograms_export_the_bounds_they_are_given) {
    const registry in;
    const metrics::histogram took("took_seconds", "Time.", metrics::buckets{0.1, 1}, in);
    took.record(0.05);
    took.record(std::chrono::milliseconds(500));
    took.record(30.0);
    took.record(-1.0);
    took.record(std::numeric_limits<double>::quiet_NaN());
    const std::string text = to_prometheus(in);
    EXPECT_TRUE(contains(text, "took_seconds_bucket{le=\"0.1\"} 3")) << text;
    EXPECT_TRUE(contains(text, "took_seconds_bucket{le=\"1.0\"} 4"));
    EXPECT_TRUE(contains(text, "took_seconds_bucket{le=\"+Inf\"} 5"));
    EXPECT_TRUE(contains(text, "took_seconds_sum 30.55"));
    EXPECT_TRUE(contains(text, "took_seconds_count 5"));
    EXPECT_EQ(took.count(), 5U);
    EXPECT_NEAR(took.quantile(1), 30, 1);
}

TEST(metrics, OBS_144_histograms_of_bytes_keep_whole_numbers) {
    const registry in;
    const metrics::histogram size("body_bytes", "Sizes.", metrics::buckets::bytes(), in);
    for (int i = 0; i < 40; ++i) {
        size.record(1e12);
    }
    EXPECT_TRUE(contains(to_prometheus(in), "body_bytes_sum 4e+13")) << to_prometheus(in);
}

TEST(metrics, OBS_145_handles_outlive_their_registry) {
    std::optional<registry> in;
    in.emplace();
    const metrics::counter one("one_total", "One.", *in);
    const metrics::labelled<metrics::gauge> many("many", "Many.", {"which"}, *in);
    in.reset();
    one.add();
    many.with({"a"}).set(3);
    EXPECT_EQ(one.value(), 1U);
    EXPECT_EQ(many.with({"a"}).value(), 3);
}

TEST(metrics, OBS_146_equal_definitions_share_their_series) {
    const registry in;
    const metrics::counter one("hits_total", "Hits.", in);
    const metrics::counter two("hits_total", "Hits.", in);
    one.add();
    two.add();
    EXPECT_EQ(one.value(), 2U);
    EXPECT_TRUE(contains(to_prometheus(in), "hits_total 2"));
}

TEST(metrics, OBS_146_another_definition_of_a_name_is_refused_with_a_sentence) {
    const registry in;
    const metrics::counter hits("hits_total", "Hits.", in);
    const metrics::histogram took("took_seconds", "Time.", metrics::buckets{1, 2}, in);
    EXPECT_EQ(refusal([&] { metrics::counter("hits_total", "Misses.", in); }),
              "metric 'hits_total' is registered with the help 'Hits.', and cannot have the help 'Misses.' too: refused");
    EXPECT_EQ(refusal([&] { metrics::gauge("took_seconds", "Time.", in); }),
              "metric 'took_seconds' is registered as a histogram, and cannot be a gauge too: refused");
    EXPECT_EQ(refusal([&] { metrics::labelled<metrics::counter>("hits_total", "Hits.", {"code"}, in); }),
              "metric 'hits_total' is registered with other labels: refused");
    EXPECT_EQ(refusal([&] { metrics::histogram("took_seconds", "Time.", metrics::buckets{1, 3}, in); }),
              "metric 'took_seconds' is registered with other buckets: refused");
    EXPECT_EQ(refusal([&] { metrics::gauge("hits", "Now.", in); }),
              "metric 'hits' clashes with metric 'hits_total', whose samples it would share in OpenMetrics: refused");
    EXPECT_EQ(refusal([&] { metrics::counter("hits", "Hits.", in); }),
              "metric 'hits' is a counter, so its name has to end with _total: refused");
    EXPECT_EQ(refusal([&] { metrics::gauge("x_total", "X.", in); }),
              "metric 'x_total' is a gauge, so its name must not end with _total, which belongs to counters: refused");
    EXPECT_EQ(refusal([&] { metrics::gauge("x_count", "X.", in); }),
              "metric 'x_count' must not end with _count, which belongs to histograms: refused");
    EXPECT_EQ(refusal([&] { metrics::labelled<metrics::gauge>("x", "X.", {"a", "a"}, in); }),
              "metric 'x' has the label 'a' twice: refused");
}

TEST(metrics, OBS_147_label_values_above_the_limit_become_other) {
    const registry in;
    const metrics::labelled<metrics::counter> by_name("calls_total", "Calls.", {"name"}, in);
    for (int i = 0; i < 100'000; ++i) {
        by_name.with({"n" + std::to_string(i)}).add();
    }
    const std::string text = to_prometheus(in);
    EXPECT_EQ(by_name.with({"n0"}).value(), 1U);
    EXPECT_TRUE(contains(text, "calls_total{name=\"n199\"} 1"));
    EXPECT_TRUE(contains(text, "calls_total{name=\"other\"} 99800"));
    EXPECT_TRUE(contains(text, "roost_metrics_label_overflow_total{metric=\"calls_total\"} 99800")) << text;
    EXPECT_LT(text.size(), 20'000U);
}

TEST(metrics, OBS_147_a_value_other_and_the_values_above_the_limit_are_one_series) {
    const registry in;
    const metrics::labelled<metrics::counter> by_name("calls_total", "Calls.", {"name"}, in);
    by_name.with({"other"}).add(7);
    EXPECT_TRUE(contains(to_prometheus(in), "calls_total{name=\"other\"} 7"));
    EXPECT_EQ(to_prometheus(in).find("overflow"), std::string::npos);
    for (int i = 0; i < 300; ++i) {
        by_name.with({std::to_string(i)}).add();
    }
    const std::string text = to_prometheus(in);
    EXPECT_TRUE(contains(text, "calls_total{name=\"other\"} 107")) << text;
    EXPECT_EQ(text.find("{name=\"other\"}"), text.rfind("{name=\"other\"}"));
}

TEST(metrics, OBS_148_the_number_of_values_is_the_number_of_labels) {
    const registry in;
    const metrics::labelled<metrics::gauge> two("two", "Two labels.", {"a", "b"}, in);
    two.with({"1", "2"}).set(7);
    EXPECT_TRUE(contains(to_prometheus(in), "two{a=\"1\",b=\"2\"} 7"));
    EXPECT_EQ(refusal([&] { static_cast<void>(two.with({"1"})); }),
              "metric 'two' has 2 labels, but 1 values were given: refused");
}

TEST(metrics, OBS_149_any_bytes_may_be_a_label_value) {
    const registry in;
    const metrics::labelled<metrics::gauge> by("seen", "Seen.", {"what"}, in);
    by.with({"quote \" slash \\ line\nend"}).set(1);
    by.with({"broken \xff\xc3\x28 \xed\xa0\x80 nul \0 \x1b"}).set(2);
    by.with({"umlaut \xc3\xbc \xf0\x9f\x90\x93"}).set(3);
    by.with({std::string(10'240, 'x')}).set(4);
    std::string wide;
    for (int i = 0; i < 5000; ++i) {
        wide += "\xc3\xbc";
    }
    by.with({wide}).set(5);
    const std::string text = to_prometheus(in);
    EXPECT_TRUE(contains(text, R"(seen{what="quote \" slash \\ line\nend"} 1)")) << text;
    const std::string bad = "\xef\xbf\xbd";
    EXPECT_TRUE(contains(text, "seen{what=\"broken " + bad + bad + "( " + bad + bad + bad + " nul \"} 2")) << text;
    EXPECT_TRUE(contains(text, "seen{what=\"umlaut \xc3\xbc \xf0\x9f\x90\x93\"} 3"));
    EXPECT_TRUE(contains(text, "seen{what=\"" + std::string(117, 'x') + "...\"} 4"));
    EXPECT_TRUE(contains(text, "seen{what=\"" + wide.substr(0, 116) + "...\"} 5"));
}

}  // namespace
