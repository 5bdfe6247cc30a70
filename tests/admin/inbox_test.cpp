#include <roost/admin/detail/inbox.hpp>

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace roost::admin::detail {
namespace {

TEST(inbox, OBS_267_what_is_posted_is_taken_once) {
    inbox in;
    const auto one = std::make_shared<parcel>();
    in.post(one);
    in.post(one);
    EXPECT_EQ(in.take(), one);
    EXPECT_EQ(in.take(), nullptr);
    in.post(one);
    EXPECT_EQ(in.take(), one);
}

TEST(inbox, OBS_267_threads_post_while_another_takes) {
    inbox in;
    constexpr int each = 200;
    std::vector<std::thread> all;
    for (int t = 0; t < 3; ++t) {
        all.emplace_back([&] {
            for (int i = 0; i < each; ++i) {
                in.post(std::make_shared<parcel>());
            }
        });
    }
    for (int got = 0; got < 3 * each;) {
        in.bell().sleep_until(no_deadline);
        while (in.take()) {
            ++got;
        }
    }
    for (std::thread& t : all) {
        t.join();
    }
    EXPECT_EQ(in.take(), nullptr);
}

TEST(inbox, OBS_271_after_its_end_nothing_is_kept) {
    inbox in;
    const auto one = std::make_shared<parcel>();
    in.post(one);
    in.close();
    EXPECT_EQ(one.use_count(), 1);
    in.post(one);
    EXPECT_EQ(one.use_count(), 1);
}

}  // namespace
}  // namespace roost::admin::detail
