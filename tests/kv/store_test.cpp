#include "store.hpp"

#include <roost/base/clock.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>

namespace {

using namespace std::chrono_literals;

constexpr roost::time_point start{1h};

void put(kv::store& s, std::string_view key, std::string_view value, roost::time_point expires = roost::no_deadline) {
    const auto held = s.lock(key);
    s.set(key, value, expires);
}

std::string value_of(kv::store& s, std::string_view key, roost::time_point now = start) {
    const auto held = s.lock(key);
    const kv::entry* const found = s.find(key, now);
    return found ? found->value : "(none)";
}

TEST(store, keeps_the_last_value_of_a_key) {
    kv::store s;
    put(s, "a", "1");
    put(s, "a", "2");
    put(s, std::string_view("a\0b", 3), "3");
    EXPECT_EQ(value_of(s, "a"), "2");
    EXPECT_EQ(value_of(s, std::string_view("a\0b", 3)), "3");
    EXPECT_EQ(value_of(s, ""), "(none)");
    EXPECT_EQ(s.size(), 2U);
    {
        const auto held = s.lock("a");
        s.erase("a");
        s.erase("a");
    }
    EXPECT_EQ(value_of(s, "a"), "(none)");
    EXPECT_EQ(s.size(), 1U);
}

TEST(store, an_entry_is_gone_at_the_time_it_expires) {
    kv::store s;
    put(s, "a", "1", start + 5s);
    EXPECT_EQ(value_of(s, "a", start + 5s - 1ns), "1");
    EXPECT_EQ(s.size(), 1U);
    EXPECT_EQ(value_of(s, "a", start + 5s), "(none)");
}

TEST(store, a_new_value_has_its_own_expiry) {
    kv::store s;
    put(s, "a", "1", start + 5s);
    put(s, "a", "2");
    EXPECT_EQ(value_of(s, "a", start + 24h), "2");
}

TEST(store, a_short_value_keeps_no_memory_of_a_long_one) {
    kv::store s;
    put(s, "a", std::string(1'000'000, 'x'));
    put(s, "a", "short");
    const auto held = s.lock("a");
    const kv::entry* const found = s.find("a", start);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->value, "short");
    EXPECT_LT(found->value.capacity(), 1000U);
}

void sweep_all(kv::store& s, roost::time_point now) {
    for (std::size_t i = 0; i < kv::store::shards; ++i) {
        s.sweep(i, now);
    }
}

TEST(store, sweeps_erase_what_has_expired_and_nothing_else) {
    kv::store s;
    for (int i = 0; i < 3000; ++i) {
        put(s, "old" + std::to_string(i), "x", start + 1s);
        put(s, "new" + std::to_string(i), "x", start + 2s);
        put(s, "ever" + std::to_string(i), "x");
    }
    sweep_all(s, start + 1s - 1ns);
    EXPECT_EQ(s.size(), 9000U);
    s.sweep(7, start + 1s);
    EXPECT_LT(s.size(), 9000U);
    EXPECT_GT(s.size(), 8000U);  // of one shard
    sweep_all(s, start + 1s);
    EXPECT_EQ(s.size(), 6000U);
    sweep_all(s, start + 24h);
    EXPECT_EQ(s.size(), 3000U);
    EXPECT_EQ(value_of(s, "ever77", start + 24h), "x");
}

}  // namespace
