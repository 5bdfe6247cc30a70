// Allocation failure at every allocation of every public operation: std::bad_alloc or a value, nothing lost, tree usable.

#include <roost/testing/manual_executor.hpp>
#include <roost/tree/callback.hpp>
#include <roost/tree/external_resource.hpp>
#include <roost/tree/lease.hpp>
#include <roost/tree/stop_token.hpp>
#include <roost/tree/visit.hpp>

#include "counted_memory.hpp"
#include "tree_support.hpp"

#include <gtest/gtest.h>

namespace {

using counted_memory::allocations;
using counted_memory::fail_after;
using roost::level;
using roost::reason;
using roost::reason_kind;
using roost::token;
using namespace tree_support;

// Runs fn with the Nth allocation failing, for N = 0, 1, ... until it gets through; says how often it failed.
template <class Fn>
int with_failures(Fn fn) {
    for (int n = 0; n < 50; ++n) {
        fail_after = n;
        try {
            fn();
            const bool unused = fail_after >= 0;
            fail_after = -1;
            if (unused) {
                return n;
            }
        } catch (const std::bad_alloc&) {
            fail_after = -1;
        }
    }
    ADD_FAILURE() << "never got through";
    return -1;
}

// Empties this thread's cache of blocks, so that the next block comes from the heap.
void hold_cached_blocks(std::vector<void*>& held, std::size_t size) {
    held.reserve(20'000);
    const long before = allocations;
    while (allocations == before && held.size() < 20'000) {
        held.push_back(roost::seam::allocate_frame(size));
    }
}

TEST(oom, TREE_56_every_operation_that_allocates) {
    ref root = make_root();
    const std::string long_name(100, 'n');
    roost::testing::manual_executor exec;
    std::vector<void*> held;
    hold_cached_blocks(held, sizeof(probe));
    EXPECT_GE(with_failures([&] {
                  ref child = make_child(*root, long_name);
                  EXPECT_TRUE(child);
              }),
              1);
    EXPECT_GE(with_failures([&] { ref other = make_root(long_name); }), 1);
    EXPECT_GE(with_failures([&] {
                  roost::ext::external_resource op = roost::ext::external_resource::open(*root, long_name, [long_name] {});
                  EXPECT_TRUE(op);
              }),
              1);
    EXPECT_GE(with_failures([&] { roost::callback cb(token(*root), level::cancel, exec, [] {}); }), 1);
    EXPECT_GE(with_failures([&] { roost::ext::linked_stop_source s(token(*root), level::cancel, exec); }), 1);
    std::stop_source source;
    with_failures([&] { roost::ext::stop_token_link l(source.get_token(), *root); });
    EXPECT_GE(with_failures([&] { (void)roost::observe::tree_to_string(*root); }), 1);
    for (void* p : held) {
        roost::seam::deallocate_frame(p, sizeof(probe));
    }
    EXPECT_EQ(root->units(), 0U);
    EXPECT_FALSE(root->has_members());
    root->cancel();
    exec.run_all();
}

TEST(oom, TREE_8_raising_needs_no_memory) {
    ref root = make_root();
    std::vector<ref> children;
    for (int i = 0; i < 100; ++i) {
        children.push_back(make_child(*root));
    }
    roost::ext::inline_callback cb(token(*root), level::stop, [] {});
    const reason with_text(reason_kind::shutdown, "bye");
    const long before = allocations;
    root->stop(with_text);
    root->cancel();
    root->abort();
    children[0]->enter();
    children[0]->leave();
    {
        roost::ext::lease l = roost::ext::lease::try_take(*root);
        roost::ext::lease copy = l.copy();
        token t(*root);
    }
    roost::observe::visit(*root, 1000, [](const roost::observe::node_description&) noexcept {});
    EXPECT_EQ(allocations, before);
    EXPECT_EQ(root->why(level::stop).text(), "bye");
}

TEST(oom, TREE_8_without_memory_the_kind_of_a_second_reason_survives) {
    ref root = make_root();
    root->stop(reason(reason_kind::shutdown, "first"));
    const reason second(reason_kind::timeout, "second");
    std::vector<void*> held;
    hold_cached_blocks(held, 64);
    fail_after = 0;
    root->cancel(second);
    fail_after = -1;
    EXPECT_EQ(root->level_now(), level::cancel);
    EXPECT_EQ(root->why(level::cancel).kind(), reason_kind::timeout);
    EXPECT_EQ(root->why(level::stop).text(), "first");
    for (void* p : held) {
        roost::seam::deallocate_frame(p, 64);
    }
}

}  // namespace
