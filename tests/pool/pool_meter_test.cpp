#include <roost/pool/detail/pool_meter.hpp>

#include <roost/pool/pool.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <thread>

namespace {

using namespace roost;
using namespace std::chrono_literals;

// What the pools with this name tell.
class seen final : public detail::metric_sink {
public:
    explicit seen(std::string name) : name_(std::move(name)) { detail::metric_source::read_all(*this); }
    void gauge(const char* name, const char*, double value, labels of) override { keep(name, value, of); }
    void counter(const char* name, const char*, std::uint64_t value, labels of) override {
        keep(name, static_cast<double>(value), of);
    }
    void times(const char* name, const char*, const detail::distribution& all, labels of) override {
        keep(name, static_cast<double>(all.count()), of);
        sum = static_cast<double>(all.sum());
    }
    [[nodiscard]] double operator[](const std::string& name) const {
        const auto at = values_.find(name);
        return at == values_.end() ? -1 : at->second;
    }
    [[nodiscard]] bool is_empty() const { return values_.empty(); }
    double sum = 0;

private:
    void keep(const char* name, double value, labels of) {
        if (of.size() == 1 && of.begin()->value == name_) {
            values_[name] = value;
        }
    }
    std::string name_;
    std::map<std::string, double> values_;
};

class measured {
public:
    measured() : before_(detail::measuring::set(true)) {}
    measured(const measured&) = delete;
    measured& operator=(const measured&) = delete;
    ~measured() { detail::measuring::set(before_); }

private:
    bool before_;
};

TEST(pool_meter, OBS_162_a_pool_is_shown_from_its_constructor_to_its_end) {
    {
        pool<int> numbers(pool_options(3, "meter_numbers"), [] { return 1; });
        const auto held = numbers.acquire_blocking();
        const seen now("meter_numbers");
        EXPECT_EQ(now["roost_pool_capacity"], 3);
        EXPECT_EQ(now["roost_pool_live"], 1);
        EXPECT_EQ(now["roost_pool_out"], 1);
        EXPECT_EQ(now["roost_pool_idle"], 0);
        EXPECT_EQ(now["roost_pool_waiting"], 0);
        EXPECT_EQ(now["roost_pool_created_total"], 1);
        EXPECT_EQ(now["roost_pool_wait_seconds"], -1);
    }
    EXPECT_TRUE(seen("meter_numbers").is_empty());
}

TEST(pool_meter, OBS_162_a_pool_is_shown_until_its_last_resource_is_returned) {
    std::optional<pooled<int>> held;
    {
        pool<int> numbers(pool_options(1, "meter_held"), [] { return 1; });
        held = numbers.acquire_blocking().value();
    }
    EXPECT_EQ(seen("meter_held")["roost_pool_out"], 1);
    held.reset();
    EXPECT_TRUE(seen("meter_held").is_empty());
}

TEST(pool_meter, OBS_163_waits_for_a_pool_are_measured) {
    const measured on;
    pool<int> one(pool_options(1, "meter_one"), [] { return 1; });
    EXPECT_EQ(seen("meter_one")["roost_pool_wait_seconds"], 0);
    const auto held = one.acquire_blocking();
    EXPECT_FALSE(one.acquire_blocking(3ms));
    const seen now("meter_one");
    EXPECT_EQ(now["roost_pool_wait_seconds"], 1);
    EXPECT_GE(now.sum, 3e6);
}

// Reads while pools come and go.
TEST(pool_meter, OBS_162_a_read_may_run_while_they_come_and_go) {
    seam::atomic<bool> done{false};
    std::thread reader([&] {
        while (!done.load(seam::mo::seq_cst)) {
            EXPECT_TRUE(seen("none").is_empty());
        }
    });
    for (int i = 0; i < 300; ++i) {
        pool<int> numbers(pool_options(2, "meter_short"), [] { return 1; });
        static_cast<void>(numbers.acquire_blocking());
    }
    done.store(true, seam::mo::seq_cst);
    reader.join();
}

}  // namespace
