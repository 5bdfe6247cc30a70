// Scenarios 5 to 7: registering for cancellation, callbacks that do what they should not, and their removal, while the cancel
// is on its way.

#include <roost/testing/manual_executor.hpp>
#include <roost/tree/callback.hpp>
#include <roost/tree/token.hpp>

#include "../tree/tree_support.hpp"
#include "quiet.hpp"
#include "two_at_once.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace {

using namespace roost;
using namespace roost::ext;
using gauntlet::load;
using gauntlet::quiet;
using testing_support::two_at_once;
using tree_support::make_child;
using tree_support::make_root;
using tree_support::ref;

// A child and a callback each: told by the walk, or by their own registration.
TEST(gauntlet_cancel, GAUNTLET_5_whoever_registers_during_a_cancel_is_told_exactly_once) {
    const quiet q("scenario 5");
    const long n = load(100'000, 2000);
    struct entry {
        explicit entry(detail::node& parent) : child(make_child(parent)), cb(token(*child), level::cancel, told_fn{&told}) {}
        struct told_fn {
            std::atomic<int>* told;
            void operator()() const noexcept { told->fetch_add(1); }
        };
        std::atomic<int> told{0};
        ref child;
        inline_callback<told_fn> cb;
    };
    const ref root = make_root();
    std::deque<entry> all[2];
    std::atomic<long> made{0};
    std::vector<std::thread> registering;
    for (auto& mine : all) {
        registering.emplace_back([&] {
            for (long i = 0; i < n / 2; ++i) {
                mine.emplace_back(*root);
                made.fetch_add(1, std::memory_order_relaxed);
            }
        });
    }
    while (made.load() < n / 4) {
        std::this_thread::yield();
    }
    root->cancel();
    const long before = made.load();
    for (std::thread& t : registering) {
        t.join();
    }
    long by_walk = 0;
    for (const auto& mine : all) {
        for (const entry& e : mine) {
            ASSERT_TRUE(e.child->is_cancelled());
            ASSERT_EQ(e.told.load(), 1);
            ASSERT_LE(e.child->raised_count, 1);
            by_walk += e.child->raised_count;
        }
    }
    q.say("%ld registrations, %ld made when the cancel returned, %ld children told by the walk", n, before, by_walk);
}

// What a callback may do to its own world. The canceller runs on another thread, the callback on this one.
enum class mischief { cancel_again, remove_itself, remove_a_sibling, drop_the_scope, spawn };

class troublemaker {
public:
    void play(mischief what, long rounds) {
        long ran = 0;
        two_at_once race([&](long) {
            root_ = make_root();
            other_ = root_;
            happened_ = false;
            sibling_.emplace(token(*root_), level::cancel, where_, [] {});
            mine_.emplace(token(*root_), level::cancel, where_, [this, what] { act(what); });
        });
        race.run(
            rounds, [&] { where_.run_all(); }, [&] { other_->cancel(); },
            [&] {
                where_.run_all();
                ASSERT_TRUE(happened_);
                ++ran;
                sibling_.reset();
                mine_.reset();
                other_ = {};
                root_ = {};
            });
        ASSERT_EQ(ran, rounds);
    }

private:
    void act(mischief what) {
        happened_ = true;
        switch (what) {
            case mischief::cancel_again: root_->cancel(); break;
            case mischief::remove_itself: mine_.reset(); break;
            case mischief::remove_a_sibling: sibling_.reset(); break;
            case mischief::drop_the_scope: root_ = {}; break;
            case mischief::spawn: {
                const ref child = make_child(*root_);
                ASSERT_TRUE(child) << "born, and born cancelled";
                ASSERT_TRUE(child->is_cancelled());
                break;
            }
        }
    }
    roost::testing::manual_executor where_;
    ref root_;
    ref other_;
    bool happened_ = false;
    std::optional<callback> sibling_;
    std::optional<callback> mine_;
};

TEST(gauntlet_cancel, GAUNTLET_6_callbacks_may_turn_against_what_called_them) {
    const quiet q("scenario 6");
    const long rounds = load(100'000);
    for (const mischief what : {mischief::cancel_again, mischief::remove_itself, mischief::remove_a_sibling,
                                mischief::drop_the_scope, mischief::spawn}) {
        troublemaker().play(what, rounds);
    }
    q.say("5 kinds, %ld rounds each", rounds);
}

// Removal waits for a callback that runs on another thread; removal by the callback itself does not.
TEST(gauntlet_cancel, GAUNTLET_7_TREE_41_removing_waits_for_a_running_callback) {
    const quiet q("scenario 7");
    const long rounds = load(1'000'000);
    struct bump {
        long* state;
        void operator()() const noexcept { *state += 1; }
    };
    ref root;
    long plain_state = 0;
    long ran = 0;
    std::optional<inline_callback<bump>> cb;
    two_at_once race([&](long) {
        root = make_root();
        plain_state = 0;
        cb.emplace(token(*root), level::cancel, bump{&plain_state});
    });
    race.run(
        rounds,
        [&] {
            cb.reset();
            plain_state += 2;  // a data race unless removal waited
        },
        [&] { root->cancel(); },
        [&] {
            ASSERT_TRUE(plain_state == 2 || plain_state == 3);
            ran += plain_state - 2;
        });
    for (long i = 0; i < rounds; ++i) {
        const ref one = make_root();
        struct itself {
            std::optional<inline_callback<std::function<void()>>> cb;
        } me;
        bool called = false;
        me.cb.emplace(token(*one), level::cancel, [&] {
            called = true;
            me.cb.reset();
        });
        one->cancel();
        ASSERT_TRUE(called);
        ASSERT_FALSE(me.cb);
    }
    q.say("%ld rounds removed by another thread, in %ld the callback ran first; %ld rounds removed by itself", rounds, ran,
          rounds);
}

}  // namespace
