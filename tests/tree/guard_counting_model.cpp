// The obvious way to count guards in a tree, and why it is not used: docs/design/guard-counting.md.

#include <roost/base/atomic.hpp>
#include <roost/testing/explore_gtest.hpp>

namespace {

using roost::testing::check;

// Only the thread that moves a node off zero announces it to its parent; the one that brings it back to zero withdraws that.
struct naive {
    naive* parent;
    roost::seam::atomic<std::uint32_t> count{0};
    explicit naive(naive* up) : parent(up) {}
    void enter() {
        for (naive* n = this; n != nullptr; n = n->parent) {
            if (n->count.fetch_add(1, roost::seam::mo::seq_cst) != 0) {
                return;
            }
        }
    }
    void leave() {
        for (naive* n = this; n != nullptr; n = n->parent) {
            if (n->count.fetch_sub(1, roost::seam::mo::seq_cst) != 1) {
                return;
            }
        }
    }
};

TEST(guard_counting_model, the_first_arriver_walk_loses_a_guard) {
    const auto r = EXPECT_FOUND(roost::testing::verdict::assertion, {.memory = roost::testing::memory::sc}, [] {
        naive root(nullptr);
        naive leaf(&root);
        roost::seam::thread first([&] {
            leaf.enter();
            leaf.leave();
        });
        leaf.enter();
        check(root.count.load(roost::seam::mo::seq_cst) != 0, "a returned guard is seen at the root");
        leaf.leave();
        first.join();
    });
    if (!r.trace.empty()) {
        std::printf("%s\n", r.report("first arriver walks").c_str());
    }
}

}  // namespace
