// Resources whose move may throw, with create, check and destroy that are awaited: nothing is lost, and the program goes on.

#include <roost/pool/pool.hpp>
#include <roost/task/driven.hpp>
#include <roost/task/scope.hpp>

#include "../misuse/heard.hpp"
#include "../task/rig.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <stdexcept>

namespace {

using namespace roost;

// Counts what is alive; the move number `throws_at` throws.
class fragile {
public:
    static inline int moves = 0;
    static inline int throws_at = 0;
    static inline int alive = 0;

    fragile() { ++alive; }
    fragile(fragile&&) {
        if (++moves == throws_at) {
            throw std::bad_alloc();
        }
        ++alive;
    }
    ~fragile() { --alive; }
};

task<fragile> make() { co_return fragile(); }
task<> give_up(fragile&) { co_return; }
task<bool> check(fragile&) { co_return true; }

task<> uses(pool<fragile>& p) {
    { auto first = co_await p.acquire(); }
    {
        auto second = co_await p.acquire();
        if (second) {
            second.handle().discard();
        }
    }
    co_await p.close();
}

TEST(pool, POOL_100_a_move_that_throws_costs_the_resource_and_nothing_else) {
    int survived = 0;
    for (int at = 1; at < 40; ++at) {
        fragile::moves = 0;
        fragile::throws_at = at;
        fragile::alive = 0;
        {
            const misuse_tests::heard h;
            rig::stage s;
            pool_options o(1, "fragile");
            o.where = s.executor;
            pool<fragile> p(
                o, [] { return make(); }, [](fragile& f) { return give_up(f); }, [](fragile& f) { return check(f); });
            const job j = s.play(uses(p));
            EXPECT_EQ(j.state(), job_state::completed) << at;
        }
        EXPECT_EQ(fragile::alive, 0) << at;
        ++survived;
        if (fragile::moves < at) {
            break;
        }
    }
    EXPECT_GT(survived, 3) << "some move threw";
}

TEST(pool, POOL_101_a_destroy_that_throws_is_heard_without_on_error) {
    const misuse_tests::heard h;
    {
        pool<int> p(
            pool_options(2, "db"), [] { return 1; },
            [](int&) { throw std::runtime_error("the connection could not be closed"); });
        {
            auto a = p.acquire_blocking();
            a.handle().discard();
        }
        EXPECT_TRUE(h.has("pool 'db': roost::")) << h.text();
        EXPECT_TRUE(h.has("stripe 0: destroy: the connection could not be closed")) << h.text();
        h.text().clear();
        { auto b = p.acquire_blocking(); }
        EXPECT_TRUE(p.close_blocking());
    }
    EXPECT_TRUE(h.has("could not be closed")) << h.text();
}

TEST(pool, POOL_104_an_acquire_speaks_the_vocabulary_of_answers) {
    pool<int> p(pool_options(1, "db"), [] { return 7; });
    auto got = p.acquire_blocking();
    EXPECT_TRUE(got.has_value());
    EXPECT_EQ(got.status(), wait_status::done);
    EXPECT_EQ(got.error(), nullptr);
    auto none = p.try_acquire();
    EXPECT_EQ(none.status(), wait_status::would_wait);
    EXPECT_TRUE(std::move(none).to_outcome().has_error());
    outcome<pooled<int>> held = static_cast<outcome<pooled<int>>>(std::move(got));
    ASSERT_TRUE(held);
    EXPECT_EQ(*held.value(), 7);
    EXPECT_TRUE(acquired<int>(wait_status::cancelled).to_outcome().is_cancelled());
}

}  // namespace
