#include <roost/tree/external_resource.hpp>

#include "tree_support.hpp"

#include <gtest/gtest.h>

namespace {

using roost::level;
using roost::ext::external_resource;
using namespace tree_support;

TEST(external_resource, TREE_46_completion_disarms_cancel) {
    ref root = make_root();
    int cancels = 0;
    external_resource op = external_resource::open(*root, "read", [&] { ++cancels; });
    EXPECT_EQ(root->units(), 1U);
    EXPECT_TRUE(op.try_complete());
    EXPECT_FALSE(op.try_complete());
    root->cancel();
    EXPECT_EQ(cancels, 0);
    EXPECT_TRUE(root->has_work());
    op.reset();
    EXPECT_FALSE(root->has_work());
    EXPECT_FALSE(root->has_members());
}

TEST(external_resource, TREE_46_cancel_disarms_completion) {
    ref root = make_root();
    int cancels = 0;
    external_resource op = external_resource::open(*root, "read", [&] { ++cancels; });
    root->stop();
    EXPECT_EQ(cancels, 0);
    root->cancel();
    root->abort();
    EXPECT_EQ(cancels, 1);
    EXPECT_FALSE(op.try_complete());
    EXPECT_TRUE(root->has_work());  // until the handle goes, the operation is not back
    op.reset();
    EXPECT_FALSE(root->has_work());
}

TEST(external_resource, TREE_91_on_cancel_runs_on_the_cancellers_stack_before_cancel_returns) {
    ref root = make_root();
    std::uint32_t ran_on = 0;
    external_resource op = external_resource::open(*root, "read", [&] { ran_on = roost::seam::thread_index() + 1; });
    std::uint32_t cancelled_on = 0;
    roost::seam::thread canceller([&] {
        cancelled_on = roost::seam::thread_index() + 1;
        root->cancel();
        EXPECT_EQ(ran_on, cancelled_on);
    });
    canceller.join();
    EXPECT_NE(ran_on, roost::seam::thread_index() + 1);
}

TEST(external_resource, TREE_46_on_cancel_may_close_its_own_handle) {
    ref root = make_root();
    external_resource op;
    int cancels = 0;
    op = external_resource::open(*root, "read", [&] {
        ++cancels;
        op.reset();
    });
    root->cancel();
    EXPECT_EQ(cancels, 1);
    EXPECT_FALSE(root->has_work());
    EXPECT_FALSE(root->has_members());
}

TEST(external_resource, TREE_46_dropped_without_a_word) {
    ref root = make_root();
    int cancels = 0;
    {
        external_resource op = external_resource::open(*root, "read", [&] { ++cancels; });
    }
    root->cancel();
    EXPECT_EQ(cancels, 0);
    EXPECT_FALSE(root->has_work());
}

TEST(external_resource, TREE_47_opened_late) {
    ref root = make_root();
    int cancels = 0;
    root->cancel();
    external_resource op = external_resource::open(*root, "read", [&] { ++cancels; });
    EXPECT_EQ(cancels, 1);
    EXPECT_FALSE(op.try_complete());
    op.reset();
    root->close();
    EXPECT_FALSE(external_resource::open(*root, "read", [&] { ++cancels; }));
    EXPECT_EQ(cancels, 1);
}

TEST(external_resource, TREE_52_reports_name_it) {
    ref root = make_root();
    external_resource op = external_resource::open(*root, "request to billing", [] {});
    const std::string text = roost::observe::tree_to_string(*root);
    EXPECT_NE(text.find("external resource 'request to billing'"), std::string::npos) << text;
    EXPECT_NE(text.find("under way"), std::string::npos) << text;
}

}  // namespace
