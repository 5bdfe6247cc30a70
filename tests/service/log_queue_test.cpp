#include <roost/service/detail/log_queue.hpp>

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <string>

namespace roost::service::detail {
using namespace ext;

namespace {

class log_queue_test : public ::testing::Test {
protected:
    log_queue queue{log_queue::least_bytes};
    std::string buffer = std::string(queue.longest(), '\0');

    void push(const std::string& text) { queue.push(log_line(severity::info, text)); }
    [[nodiscard]] std::string pop() { return std::string(queue.pop(buffer.data()).text()); }
};

TEST_F(log_queue_test, SVC_80_lines_come_out_as_they_went_in) {
    const wall_time at = wall_now();
    queue.push(log_line(severity::warning, "one", at));
    queue.push(log_line(severity::info, "two", at, log_line::kind::ledger));
    push("");
    EXPECT_EQ(queue.lines(), 3U);
    const log_line one = queue.pop(buffer.data());
    EXPECT_EQ(one.text(), "one");
    EXPECT_EQ(one.how(), severity::warning);
    EXPECT_EQ(one.time(), at);
    EXPECT_FALSE(one.is_ledger());
    const log_line two = queue.pop(buffer.data());
    EXPECT_EQ(two.text(), "two");
    EXPECT_TRUE(two.is_ledger());
    EXPECT_EQ(pop(), "");
    EXPECT_EQ(queue.lines(), 0U);
    EXPECT_EQ(queue.take_dropped(), 0U);
}

TEST_F(log_queue_test, SVC_100_a_full_queue_drops_the_oldest_and_counts_them) {
    for (int i = 0; i < 1000; ++i) {
        push("line " + std::to_string(i));
    }
    const std::size_t kept = queue.lines();
    EXPECT_GT(kept, 50U);
    EXPECT_EQ(queue.take_dropped(), 1000U - kept);
    EXPECT_EQ(queue.take_dropped(), 0U);
    for (std::size_t i = 1000 - kept; i < 1000; ++i) {
        EXPECT_EQ(pop(), "line " + std::to_string(i));
    }
}

TEST_F(log_queue_test, SVC_100_a_line_that_is_too_long_loses_its_end_and_says_so) {
    push(std::string(queue.longest(), 'a'));
    EXPECT_EQ(pop(), std::string(queue.longest(), 'a'));
    push(std::string(100'000, 'b'));
    const std::string cut = pop();
    EXPECT_LE(cut.size(), queue.longest());
    EXPECT_EQ(cut.substr(0, 100), std::string(100, 'b'));
    const std::size_t kept = cut.find(' ');
    EXPECT_EQ(cut.substr(kept), " ... and " + std::to_string(100'000 - kept) + " bytes more");
}

// Against a plain list that drops as the ring has to.
TEST_F(log_queue_test, SVC_100_any_order_of_pushes_and_pops_keeps_the_newest_lines_in_order) {
    std::mt19937 random(7);
    std::deque<std::string> expected;
    std::uint64_t dropped = 0;
    for (int i = 0; i < 20'000; ++i) {
        if (random() % 5 < 3) {
            const std::string text = std::to_string(i) + std::string(random() % queue.longest(), 'x');
            push(text.substr(0, queue.longest()));
            expected.push_back(text.substr(0, queue.longest()));
            while (expected.size() > queue.lines()) {
                expected.pop_front();
                ++dropped;
            }
        } else if (!expected.empty()) {
            ASSERT_EQ(pop(), expected.front());
            expected.pop_front();
        }
        ASSERT_EQ(queue.lines(), expected.size());
    }
    EXPECT_GT(dropped, 100U);
    EXPECT_EQ(queue.take_dropped(), dropped);
}

}  // namespace
}  // namespace roost::service::detail
