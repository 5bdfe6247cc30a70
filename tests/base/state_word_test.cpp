#include <roost/base/detail/state_word.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace {

// A door: counted visitors until it is closed; the last one out of a closed door turns off the light.
struct door {
    std::uint32_t inside = 0;
    bool closed = false;

    [[nodiscard]] constexpr std::uint32_t pack() const noexcept { return (inside << 1U) | (closed ? 1U : 0U); }
    [[nodiscard]] static constexpr door unpack(std::uint32_t word) noexcept { return {word >> 1U, (word & 1U) != 0}; }
    friend constexpr bool operator==(const door&, const door&) = default;
};

enum class action { entered, refused, left, lights_out };

constexpr roost::detail::step<door, action> enter(door d) noexcept {
    if (d.closed) {
        return roost::detail::refuse<door>(action::refused);
    }
    ++d.inside;
    return roost::detail::go(d, action::entered);
}
constexpr roost::detail::step<door, action> leave(door d) noexcept {
    --d.inside;
    return roost::detail::go(d, d.closed && d.inside == 0 ? action::lights_out : action::left);
}
constexpr roost::detail::step<door, action> close(door d) noexcept {
    d.closed = true;
    return roost::detail::go(d, d.inside == 0 ? action::lights_out : action::left);
}

static_assert(enter(door{0, false}).next == door{1, false});
static_assert(!enter(door{0, true}).next);
static_assert(leave(door{1, true}).action == action::lights_out);
static_assert(door::unpack(door{5, true}.pack()) == door{5, true});

TEST(state_word, BASE_11_commits_one_step_or_refuses) {
    roost::detail::state_word<door> word;
    EXPECT_EQ(word.transition(enter), action::entered);
    EXPECT_EQ(word.transition(enter), action::entered);
    EXPECT_EQ(word.peek(), (door{2, false}));
    EXPECT_EQ(word.transition(close), action::left);
    EXPECT_EQ(word.transition(enter), action::refused);
    EXPECT_EQ(word.peek(), (door{2, true}));
    EXPECT_EQ(word.transition(leave), action::left);
    EXPECT_EQ(word.transition(leave), action::lights_out);
}

TEST(state_word, BASE_11_threads_agree_on_who_was_last) {
    for (int round = 0; round < 200; ++round) {
        roost::detail::state_word<door> word(door{4, true});
        roost::seam::atomic<int> last{0};
        std::vector<roost::seam::thread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&] {
                if (word.transition(leave) == action::lights_out) {
                    last.fetch_add(1, roost::seam::mo::relaxed);
                }
            });
        }
        for (roost::seam::thread& t : threads) {
            t.join();
        }
        ASSERT_EQ(last.load(roost::seam::mo::relaxed), 1);
    }
}

TEST(state_word, BASE_12_what_was_written_before_a_step_is_seen_after_it) {
    for (int round = 0; round < 200; ++round) {
        roost::detail::state_word<door> word;
        int cargo = 0;
        roost::seam::thread writer([&] {
            cargo = 7;
            static_cast<void>(word.transition(close));
        });
        while (!word.peek().closed) {
            roost::seam::yield_thread();
        }
        ASSERT_EQ(cargo, 7);  // without the hand-over this is a race that ThreadSanitizer reports
        writer.join();
    }
}

TEST(state_word, BASE_11_a_decision_on_an_old_word_is_taken_again) {
    roost::detail::state_word<door> word;
    int decisions = 0;
    const action last = word.transition([&](door d) noexcept {
        if (++decisions == 1) {
            static_cast<void>(word.transition(close));  // another thread may be faster
        }
        return enter(d);
    });
    EXPECT_EQ(decisions, 2);
    EXPECT_EQ(last, action::refused);
    EXPECT_EQ(word.peek(), (door{0, true}));
}

}  // namespace
