#include <roost/base/status.hpp>

#include <roost/base/error.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace {

using namespace roost;

struct test_kind {
    static constexpr const char* text = "test wait";
};
template <class T>
class reply : public detail::answer<T, test_kind> {
public:
    explicit reply(wait_status how) : detail::answer<T, test_kind>(how) {}
    template <class... Args>
    explicit reply(std::in_place_t, Args&&... args)
        : detail::answer<T, test_kind>(std::in_place, std::forward<Args>(args)...) {}
};

std::string thrown_by(void (*act)()) {
    try {
        act();
    } catch (const error& e) {
        return e.what();
    }
    return "nothing";
}

TEST(status, BASE_55_every_answer_speaks_one_vocabulary) {
    reply<std::string> good(std::in_place, "x");
    EXPECT_TRUE(good);
    EXPECT_TRUE(good.has_value());
    EXPECT_EQ(good.status(), wait_status::done);
    EXPECT_EQ(good.error(), nullptr);
    EXPECT_EQ(good.value(), "x");
    EXPECT_EQ(*good, "x");
    EXPECT_EQ(good->size(), 1U);
    const reply<std::string>& seen = good;
    EXPECT_EQ(seen.value(), "x");
    EXPECT_EQ(*seen, "x");
    EXPECT_EQ(seen->size(), 1U);
    EXPECT_EQ(*reply<std::string>(std::in_place, "y"), "y");
    EXPECT_EQ(reply<std::string>(std::in_place, "y").value(), "y");
    EXPECT_EQ(std::move(good).to_outcome().value(), "x");

    for (const wait_status how :
         {wait_status::would_wait, wait_status::closed, wait_status::expired, wait_status::stopped, wait_status::failed}) {
        reply<int> none(how);
        EXPECT_FALSE(none);
        EXPECT_EQ(none.status(), how);
        ASSERT_NE(none.error(), nullptr);
        EXPECT_THROW(static_cast<void>(none.value()), error);
        EXPECT_TRUE(static_cast<outcome<int>>(std::move(none)).has_error());
    }
    EXPECT_EQ(thrown_by([] { static_cast<void>(reply<int>(wait_status::closed).value()); }), "test wait: closed");
    EXPECT_THROW(static_cast<void>(reply<int>(wait_status::expired).value()), timed_out);
}

TEST(status, BASE_55_a_cancelled_answer_has_no_error) {
    reply<int> none(wait_status::cancelled);
    EXPECT_EQ(none.error(), nullptr);
    try {
        static_cast<void>(none.value());
        ADD_FAILURE() << "there was a value";
    } catch (const error& e) {
        EXPECT_EQ(e.kind(), errc::cancelled);
        EXPECT_STREQ(e.what(), "test wait: cancelled, so there is no value; check status() first: cancelled");
    }
    const outcome<int> as = std::move(none).to_outcome();
    EXPECT_TRUE(as.is_cancelled());
    EXPECT_EQ(as.status(), wait_status::cancelled);
}

TEST(status, BASE_55_void_and_move_only_values_are_answers_too) {
    EXPECT_TRUE(reply<void>(std::in_place).to_outcome().has_value());
    reply<std::unique_ptr<int>> owned(std::in_place, std::make_unique<int>(3));
    EXPECT_EQ(**owned, 3);
    EXPECT_EQ(*std::move(owned).to_outcome().value(), 3);
}

TEST(status, BASE_56_a_missing_value_ends_the_program_with_a_sentence) {
    reply<int> none(wait_status::closed);
    EXPECT_DEATH(static_cast<void>(*none), "roost: test wait: it holds no value \\(closed\\); write `if \\(x\\)`");
    EXPECT_DEATH(static_cast<void>(none.operator->()), "it holds no value");
    const reply<int>& seen = none;
    EXPECT_DEATH(static_cast<void>(*seen), "it holds no value");
    EXPECT_DEATH(static_cast<void>(seen.operator->()), "it holds no value");
    EXPECT_DEATH(static_cast<void>(*reply<int>(wait_status::expired)), "expired");
}

TEST(status, BASE_55_every_status_has_a_word) {
    EXPECT_EQ(to_string(wait_status::done), "done");
    EXPECT_EQ(to_string(wait_status::would_wait), "would wait");
    EXPECT_EQ(to_string(wait_status::closed), "closed");
    EXPECT_EQ(to_string(wait_status::expired), "expired");
    EXPECT_EQ(to_string(wait_status::cancelled), "cancelled");
    EXPECT_EQ(to_string(wait_status::stopped), "stopped");
    EXPECT_EQ(to_string(wait_status::failed), "failed");
    EXPECT_EQ(to_string(static_cast<wait_status>(99)), "?");
    EXPECT_EQ(detail::error_of(static_cast<wait_status>(99), "x"), nullptr);
}

}  // namespace
