// The user's comparison, copies and destructors of keys: outside every lock, one at a time, and they may fail.
#include <roost/flow/coalescer.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/this_task.hpp>

#include "../task/rig.hpp"

#include <atomic>
#include <stdexcept>
#include <vector>

using namespace roost;

namespace {

class key;
class by_number {
public:
    bool operator()(const key& a, const key& b) const;
};
using numbers = coalescer<key, int, by_number>;

// Everything a key is asked to do looks at the coalescer.
class key {
public:
    static inline numbers* owner = nullptr;
    static inline int looks = 0;
    static inline int throwing = -1;

    explicit key(int n) : number(n) {}
    key(const key& other) : number(other.number) { look(); }
    key(key&& other) noexcept : number(other.number) {}
    key& operator=(const key&) = delete;
    ~key() { look(); }
    static void look() noexcept {
        if (owner != nullptr) {
            looks += owner->size() < 100 ? 1 : 0;
        }
    }
    int number;
};
bool by_number::operator()(const key& a, const key& b) const {
    key::look();
    if (a.number == key::throwing || b.number == key::throwing) {
        throw std::runtime_error("not comparable");
    }
    return a.number < b.number;
}

task<int> twice(event& gate, const key& k) {
    const int n = k.number;
    co_await gate.wait();
    co_return n * 2;
}
task<> ask(numbers& c, event& gate, int n, std::vector<int>& got) {
    auto fn = [&gate](const key& k) { return twice(gate, k); };
    auto value = co_await as_outcome(c.coalesce(key(n), fn));
    got.push_back(value.has_value() ? value.value() : -1);
}
task<> ask_all(scope& s, event& gate, std::vector<int> which, std::vector<int>& got) {
    numbers c(s);
    key::owner = &c;
    std::vector<job> all;
    for (const int n : which) {
        all.push_back(s.launch("getter", ask(c, gate, n, got)));
    }
    for (const job& j : all) {
        co_await j.join();
    }
    EXPECT_EQ(c.size(), 0U);
    key::owner = nullptr;
}
task<> run_all(event& gate, std::vector<int> which, std::vector<int>& got) {
    co_await with_scope(ask_all, std::ref(gate), which, std::ref(got));
}

TEST(coalescer_keys, JOB_89_keys_may_use_the_coalescer) {
    rig::stage s;
    event gate;
    std::vector<int> got;
    key::looks = 0;
    s.play(run_all(gate, {1, 2, 1, 3, 2, 1}, got));
    gate.set();
    s.run();
    EXPECT_EQ(got.size(), 6U);
    EXPECT_EQ(std::count(got.begin(), got.end(), 2), 3);
    EXPECT_GT(key::looks, 10);
}

TEST(coalescer_keys, JOB_89_what_a_comparison_throws_reaches_who_asked) {
    rig::stage s;
    event gate;
    std::vector<int> got;
    key::throwing = 7;
    s.play(run_all(gate, {1, 7, 2, 7, 1}, got));
    gate.set();
    s.run();
    key::throwing = -1;
    EXPECT_EQ(got.size(), 5U);
    EXPECT_EQ(std::count(got.begin(), got.end(), -1), 2);
    EXPECT_EQ(std::count(got.begin(), got.end(), 2), 2);
}

// --- threads -----------------------------------------------------------------------------------------------------------

std::atomic<int> inside{0};
std::atomic<int> overlaps{0};
class one_at_a_time {
public:
    bool operator()(int a, int b) const {
        overlaps.fetch_add(inside.fetch_add(1) == 0 ? 0 : 1);
        const bool less = a < b;
        inside.fetch_sub(1);
        return less;
    }
};
using shared_numbers = coalescer<int, int, one_at_a_time>;

task<int> late(std::atomic<int>& computed, int n) {
    computed.fetch_add(1);
    co_await yield();
    co_return n;
}
task<> ask_often(shared_numbers& c, std::atomic<int>& computed, std::atomic<int>& wrong, int rounds) {
    for (int i = 0; i < rounds; ++i) {
        const int n = i % 3;
        auto fn = [&computed](int k) { return late(computed, k); };
        const int got = co_await c.coalesce(n, fn);
        wrong.fetch_add(got == n ? 0 : 1);
    }
}
task<> from_many(scope& s, std::atomic<int>& computed, std::atomic<int>& wrong) {
    shared_numbers c(s);
    std::vector<job> all;
    for (int i = 0; i < 8; ++i) {
        all.push_back(s.launch("getter", ask_often(c, computed, wrong, 500)));
    }
    for (const job& j : all) {
        co_await j.join();
    }
    EXPECT_EQ(c.size(), 0U);
}
task<> run_many(std::atomic<int>& computed, std::atomic<int>& wrong) {
    co_await with_scope(from_many, std::ref(computed), std::ref(wrong));
}

TEST(coalescer_keys, JOB_89_one_comparison_at_a_time_on_several_threads) {
    std::atomic<int> computed{0};
    std::atomic<int> wrong{0};
    {
        runtime rt(runtime_options().workers(3));
        block_on(rt, run_many(computed, wrong));
    }
    EXPECT_EQ(wrong.load(), 0);
    EXPECT_EQ(overlaps.load(), 0);
    EXPECT_GT(computed.load(), 0);
    EXPECT_LE(computed.load(), 4000);
}

}  // namespace
