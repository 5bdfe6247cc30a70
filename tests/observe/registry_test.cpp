#include <roost/observe/metrics.hpp>
#include <roost/observe/registry.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using namespace roost;
using metrics::registry;

bool contains(const std::string& text, std::string_view line) {
    return ("\n" + text).find("\n" + std::string(line) + "\n") != std::string::npos;
}

TEST(registry, OBS_150_collectors_are_read_at_each_scrape_until_they_are_destroyed) {
    registry in;
    int calls = 0;
    {
        metrics::collector one = in.add_collector([&](metrics::samples& to) {
            to.gauge("level", "Level.", ++calls, {{"of", "tank"}});
            to.counter("reads_total", "Reads.", 7);
        });
        EXPECT_TRUE(contains(to_prometheus(in), "level{of=\"tank\"} 1"));
        const metrics::collector moved = std::move(one);
        EXPECT_TRUE(contains(to_prometheus(in), "level{of=\"tank\"} 2"));
        EXPECT_TRUE(contains(to_prometheus(in), "reads_total 7"));
    }
    EXPECT_EQ(to_prometheus(in), "");
    EXPECT_EQ(calls, 3);
}

TEST(registry, OBS_150_a_collector_that_is_not_called_ends_at_once) {
    registry in;
    metrics::collector second;
    const metrics::collector first = in.add_collector([&](metrics::samples& to) {
        to.gauge("first", "First.", 1);
        const metrics::collector gone = std::move(second);
    });
    second = in.add_collector([](metrics::samples& to) { to.gauge("second", "Second.", 1); });
    const std::string text = to_prometheus(in);
    EXPECT_TRUE(contains(text, "first 1"));
    EXPECT_FALSE(contains(text, "second 1"));
}

TEST(registry, OBS_151_a_collector_that_throws_leaves_its_samples_out) {
    registry in;
    const metrics::gauge kept("kept", "Kept.", in);
    kept.set(1);
    const metrics::collector bad = in.add_collector([](metrics::samples& to) {
        to.gauge("half", "Half.", 1);
        throw std::runtime_error("no");
    });
    const metrics::collector clash = in.add_collector([](metrics::samples& to) { to.counter("kept", "Kept.", 1); });
    const metrics::collector good = in.add_collector([](metrics::samples& to) { to.gauge("good", "Good.", 1); });
    const std::string text = to_prometheus(in);
    EXPECT_TRUE(contains(text, "kept 1"));
    EXPECT_TRUE(contains(text, "good 1"));
    EXPECT_EQ(text.find("half"), std::string::npos);
    EXPECT_TRUE(contains(text, "roost_metrics_collector_failures_total 2")) << text;
}

TEST(registry, OBS_147_samples_of_collectors_have_the_same_limit) {
    registry in;
    const metrics::collector many = in.add_collector([](metrics::samples& to) {
        for (int i = 0; i < 250; ++i) {
            to.gauge("size", "Size.", 1, {{"of", std::to_string(i)}});
        }
    });
    EXPECT_TRUE(contains(to_prometheus(in), "size{of=\"199\"} 1"));
    EXPECT_TRUE(contains(to_prometheus(in), "size{of=\"other\"} 50"));
}

TEST(registry, OBS_150_destroying_a_collector_waits_for_its_call) {
    registry in;
    for (int i = 0; i < 200; ++i) {
        std::atomic<bool> alive{true};
        metrics::collector one = in.add_collector([&](metrics::samples&) { EXPECT_TRUE(alive.load()); });
        std::thread scraper([&] { static_cast<void>(to_prometheus(in)); });
        one = metrics::collector();
        alive = false;
        scraper.join();
    }
}

}  // namespace
