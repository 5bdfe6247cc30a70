#include <roost/admin/detail/client_table.hpp>

#include <gtest/gtest.h>

namespace roost::admin::detail {
namespace {

using std::chrono::seconds;

time_point at(int s) { return time_point(seconds(s)); }
client& add(client_table& to, int fd, int deadline) {
    return to.add(std::make_unique<client>(fd, at(fd), at(deadline)));  // it has been there since its number
}

TEST(client_table, OBS_264_the_next_deadline_is_the_earliest) {
    client_table all(4);
    EXPECT_EQ(all.next_deadline(), no_deadline);
    add(all, 1, 5);
    client& second = add(all, 2, 3);
    EXPECT_EQ(all.next_deadline(), at(3));
    EXPECT_EQ(all.overdue(at(2)), nullptr);
    EXPECT_EQ(all.overdue(at(3)), &second);
    all.remove(second);
    EXPECT_EQ(all.size(), 1U);
    EXPECT_EQ(all.next_deadline(), at(5));
}

TEST(client_table, OBS_266_the_oldest_client_without_a_request_makes_room) {
    client_table all(5);
    client& sends = add(all, 1, 1);
    client& handles = add(all, 2, 2);
    client& reads = add(all, 3, 3);
    client& streams = add(all, 4, 4);
    client& fresh = add(all, 5, 5);
    EXPECT_TRUE(all.is_full());
    sends.enter(client_phase::sending, at(9));
    handles.enter(client_phase::handling, at(9));
    streams.enter(client_phase::streaming, no_deadline);
    for (client* const next : {&reads, &sends, &handles, &fresh, &streams}) {
        EXPECT_EQ(all.to_drop(at(5)), next) << next->fd();
        next->enter(client_phase::dropped, no_deadline);
    }
    EXPECT_EQ(all.to_drop(at(5)), nullptr);
    EXPECT_EQ(all.live(), 0U);
    EXPECT_EQ(all.next_deadline(), no_deadline);
}

TEST(client_table, OBS_266_a_client_that_has_just_connected_has_a_moment) {
    client_table all(2);
    client& handles = add(all, 1, 9);
    client& reads = add(all, 2, 9);
    handles.enter(client_phase::handling, at(9));
    EXPECT_EQ(all.to_drop(at(2)), &handles);
    EXPECT_EQ(all.to_drop(at(2) + client_table::patience), &reads);
}

}  // namespace
}  // namespace roost::admin::detail
