// Real threads, real cores. Length: ROOST_STRESS_SECONDS per test (default 1).

#include <roost/testing/manual_executor.hpp>
#include <roost/tree/callback.hpp>
#include <roost/tree/lease.hpp>
#include <roost/tree/visit.hpp>

#include "tree_support.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <random>
#include <thread>

namespace {

using roost::level;
using roost::detail::child_kind;
using namespace tree_support;
using clock = std::chrono::steady_clock;

clock::time_point stress_end() {
    const char* seconds = std::getenv("ROOST_STRESS_SECONDS");
    return clock::now() +
           std::chrono::milliseconds(static_cast<long>(1000 * (seconds != nullptr ? std::atof(seconds) : 1.0)));
}

// Counts live views instead of telling them: safe on any thread.
std::atomic<long> live{0};
struct counted : roost::detail::node {
    std::atomic<int> told{0};
    static void destroy(roost::detail::node& n) noexcept {
        auto& self = static_cast<counted&>(n);
        self.~counted();
        live.fetch_sub(1);
        roost::seam::deallocate_frame(&self, sizeof(counted));
    }
    static void level_raised(roost::detail::node& n, level) noexcept { static_cast<counted&>(n).told.fetch_add(1); }
    static constexpr roost::detail::node_functions table{
        .kind = "counted", .destroy = &destroy, .level_raised = &level_raised};
    counted() : node(table, "root", roost::site::here()) { live.fetch_add(1); }
    explicit counted(roost::detail::node& up) : node(table, up, "child", roost::site::here()) { live.fetch_add(1); }
};
using counted_ref = roost::detail::node_ref<counted>;
counted_ref new_root() { return counted_ref::adopt(::new (roost::seam::allocate_frame(sizeof(counted))) counted); }
counted_ref new_child(roost::detail::node& up, child_kind kind = child_kind::idle) {
    auto* made = ::new (roost::seam::allocate_frame(sizeof(counted))) counted(up);
    if (made->attach(kind) == roost::detail::attached::refused) {
        made->discard();
        return {};
    }
    return counted_ref::adopt(made);
}

// Two threads, three levels, guards at random places; a returned unit must be seen at every ancestor.
TEST(tree_stress, TREE_16_no_unit_is_ever_invisible) {
    counted_ref root = new_root();
    counted_ref middle = new_child(*root);
    counted_ref leaves[2] = {new_child(*middle), new_child(*middle)};
    std::atomic<long> missed{0};
    std::atomic<long> rounds{0};
    const auto end = stress_end();
    const auto body = [&](unsigned seed) {
        std::mt19937 random(seed);
        long mine = 0;
        while ((mine & 1023) != 0 || clock::now() < end) {
            ++mine;
            counted& leaf = *leaves[random() % 2];
            leaf.enter();
            missed += root->has_work() && middle->has_work() && leaf.has_work() ? 0 : 1;
            leaf.leave();
        }
        rounds += mine;
    };
    std::thread a(body, 1), b(body, 2);
    a.join();
    b.join();
    EXPECT_EQ(missed.load(), 0) << "in " << rounds.load() << " rounds";
    EXPECT_EQ(root->units(), 0U);
    RecordProperty("rounds", static_cast<int>(rounds.load()));
    std::printf("  %ld units\n", rounds.load());
}

// Children attach while their parent is cancelled: notified or born cancelled, never both, never neither.
TEST(tree_stress, TREE_5_attach_against_cancel) {
    const auto end = stress_end();
    long rounds = 0;
    long told = 0;
    while (clock::now() < end) {
        ++rounds;
        counted_ref root = new_root();
        counted_ref middle = new_child(*root);
        std::vector<counted_ref> children;
        std::vector<bool> born;
        std::atomic<bool> started{false};
        std::thread canceller([&] {
            while (!started.load()) {}
            root->cancel();
        });
        for (int i = 0; i < 200; ++i) {
            children.push_back(new_child(i % 2 == 0 ? *root : *middle));
            born.push_back(children.back()->is_cancelled());
            started = started || i == 20;
        }
        canceller.join();
        for (std::size_t i = 0; i < children.size(); ++i) {
            ASSERT_TRUE(children[i]->is_cancelled());
            const int times = children[i]->told.load();
            ASSERT_TRUE(times == 1 || (times == 0 && born[i]));
            told += times;
        }
    }
    EXPECT_EQ(live.load(), 0);
    std::printf("  %ld rounds, %ld told\n", rounds, told);
}

// A storm of cancels from foreign threads while the tree grows and shrinks.
TEST(tree_stress, TREE_9_storm_of_cancels_from_foreign_threads) {
    const auto end = stress_end();
    std::atomic<long> made{0};
    counted_ref root = new_root();
    const auto grower = [&](unsigned seed) {
        std::mt19937 random(seed);
        while (clock::now() < end) {
            counted_ref top = new_child(*root);
            std::vector<counted_ref> nodes{top};
            for (int i = 0; i < 100; ++i) {
                nodes.push_back(
                    new_child(*nodes[random() % nodes.size()], random() % 2 == 0 ? child_kind::working : child_kind::idle));
                if (nodes.back()->has_work() && random() % 2 == 0) {
                    roost::ext::lease l =
                        roost::detail::tree_access::adopt_lease(*nodes.back());  // gives the body's unit back at the end
                    roost::ext::lease more = l.copy();  // and one more, wherever it goes
                } else if (nodes.back()->has_work()) {
                    nodes.back()->leave();
                }
                if (random() % 8 == 0) {
                    nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(random() % nodes.size()));
                }
                if (nodes.empty()) {
                    nodes.push_back(top);
                }
                made.fetch_add(1, std::memory_order_relaxed);
            }
            nodes[random() % nodes.size()]->raise(static_cast<level>(1 + random() % 3),
                                                  roost::reason(roost::reason_kind::requested, "storm"));
        }
    };
    const auto canceller = [&] {
        while (clock::now() < end) {
            std::vector<roost::detail::node_ref<>> seen;
            roost::observe::visit(*root, 50, [&](const roost::observe::node_description& d) noexcept {
                if (d.depth == 1 && seen.size() < 2) {
                    seen.push_back(roost::detail::node_ref<>::try_share(*d.target));
                }
            });
            for (const auto& n : seen) {
                if (!n) {
                    continue;
                }
                n->cancel();
                if (!n->is_cancelled()) {
                    ADD_FAILURE() << "TREE-2: latched on return";
                }
            }
        }
    };
    std::thread a(grower, 1), b(grower, 2), c(canceller);
    a.join();
    b.join();
    c.join();
    EXPECT_EQ(root->units(), 0U);
    EXPECT_FALSE(root->has_members());
    root = {};
    EXPECT_EQ(live.load(), 0);
    std::printf("  %ld nodes\n", made.load());
}

// Two operations that cancel each other from two threads.
TEST(tree_stress, TREE_43_mutual_cancel) {
    const auto end = stress_end();
    long rounds = 0;
    while (clock::now() < end) {
        ++rounds;
        counted_ref one = new_root(), two = new_root();
        std::atomic<int> calls{0};
        roost::ext::inline_callback a(roost::token(*one), level::cancel, [&] {
            ++calls;
            two->cancel();
        });
        roost::ext::inline_callback b(roost::token(*two), level::cancel, [&] {
            ++calls;
            one->cancel();
        });
        std::thread other([&] { one->cancel(); });
        two->cancel();
        other.join();
        ASSERT_EQ(calls.load(), 2);
    }
    std::printf("  %ld rounds\n", rounds);
}

// A thread that sees a closed node sees what its work did, without further synchronisation (TSan sees it otherwise).
TEST(tree_stress, TREE_29_a_drain_carries_the_work) {
    const auto end = stress_end();
    while (clock::now() < end) {
        counted_ref scope = new_root();
        counted_ref child = new_child(*scope, child_kind::working);
        int result = 0;
        std::thread worker([&] {
            result = 42;
            child->close_and_leave();
        });
        scope->close();
        while (!scope->is_closed()) {}
        ASSERT_EQ(result, 42);
        worker.join();
    }
}

}  // namespace
