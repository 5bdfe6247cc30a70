#include <roost/runtime/detail/injector.hpp>

#include "fixture.hpp"

#include <gtest/gtest.h>

namespace {

using namespace runtime_tests;

TEST(injector, RUN_12_first_in_first_out_in_batches) {
    detail::injector outside;
    std::vector<std::unique_ptr<call>> all;
    for (int i = 0; i < 10; ++i) {
        all.push_back(std::make_unique<call>([] {}));
        EXPECT_TRUE(outside.push(*all.back()));
    }
    work* batch[4];
    EXPECT_EQ(outside.fetch(4, batch), 4U);
    EXPECT_EQ(batch[0], all[0].get());
    EXPECT_EQ(batch[3], all[3].get());
    EXPECT_FALSE(outside.is_empty()) << "the rest of the batch is on its way out";
    call late([] {});
    EXPECT_TRUE(outside.push(late));
    EXPECT_EQ(outside.fetch(4, batch), 4U);
    EXPECT_EQ(batch[0], all[4].get());
    EXPECT_FALSE(outside.is_empty());
    EXPECT_EQ(outside.fetch(4, batch), 2U);
    EXPECT_EQ(batch[1], all[9].get());
    EXPECT_EQ(outside.fetch(4, batch), 1U);
    EXPECT_EQ(batch[0], &late);
    EXPECT_TRUE(outside.is_empty());
    EXPECT_EQ(outside.fetch(4, batch), 0U);
}

TEST(injector, RUN_12_a_further_item_goes_behind_those_that_wait) {
    detail::injector outside;
    call a([] {});
    call b([] {});
    EXPECT_FALSE(outside.push_further(a)) << "nothing waits: this push has to wake a worker";
    EXPECT_TRUE(outside.push(a));
    EXPECT_TRUE(outside.push_further(b));
    work* batch[4];
    EXPECT_EQ(outside.fetch(4, batch), 2U);
    EXPECT_EQ(batch[0], &a);
    EXPECT_EQ(batch[1], &b);
    EXPECT_TRUE(outside.close());
    EXPECT_FALSE(outside.push_further(a));
}

TEST(injector, RUN_13_closed_refuses_and_keeps_what_it_has) {
    detail::injector outside;
    call a([] {});
    call b([] {});
    EXPECT_TRUE(outside.push(a));
    EXPECT_TRUE(outside.close());
    EXPECT_FALSE(outside.close());
    EXPECT_FALSE(outside.push(b));
    EXPECT_FALSE(outside.is_empty());
    work* batch[4];
    EXPECT_EQ(outside.fetch(4, batch), 1U);
    EXPECT_EQ(batch[0], &a);
    EXPECT_TRUE(outside.is_closed());
}

}  // namespace
