#include <roost/sync/detail/holdings.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace roost;
using namespace roost::detail;

// A job of sorts, with its references.
class holder {
public:
    explicit holder(const char* text) : name(text) {}
    [[nodiscard]] taker as_taker() { return {this, &functions, site()}; }

    std::string_view name;
    int references = 0;

private:
    static holder& of(void* job) { return *static_cast<holder*>(job); }
    static constexpr holder_functions functions{
        .retain = [](void* job) noexcept { ++of(job).references; },
        .release = [](void* job) noexcept { --of(job).references; },
        .name = [](const void* job) noexcept { return static_cast<const holder*>(job)->name; },
        .made_at = [](const void*) noexcept { return site(); }};
};

class tracking {
public:
    tracking() { holdings::track(true); }
    ~tracking() { holdings::track(false); }
};

std::uint32_t three(const void*) noexcept { return 3; }

std::vector<holding> all_of(const void* of) {
    std::vector<holding> found;
    holdings::visit(of, &found,
                    [](void* to, const holding& h) noexcept { static_cast<std::vector<holding>*>(to)->push_back(h); });
    return found;
}

TEST(holdings, OBS_220_records_who_takes_and_keeps_a_reference) {
    const tracking on;
    holder h("one");
    const int primitive = 0;
    const int guard = 0;
    {
        const taking_for mine(h.as_taker());
        holdings::took(&primitive, &guard, 2, &three);
    }
    EXPECT_EQ(holdings::taking().job, nullptr);
    const std::vector<holding> found = all_of(&primitive);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].by.job, &h);
    EXPECT_EQ(found[0].permits, 2U);
    EXPECT_EQ(found[0].total, 3U);
    EXPECT_TRUE(found[0].is_sure);
    EXPECT_EQ(h.references, 1);
    char text[80];
    const std::size_t length = holdings::describe(&primitive, text, sizeof text);
    EXPECT_EQ(std::string(text, length), "held 0 ms by job 'one'");
    holdings::gave(&primitive, &guard);
    EXPECT_EQ(h.references, 0);
    EXPECT_TRUE(all_of(&primitive).empty());
    EXPECT_EQ(holdings::describe(&primitive, text, sizeof text), 0U);
}

TEST(holdings, OBS_220_switching_off_gives_every_reference_back) {
    holdings::track(true);
    holder h("one");
    std::vector<int> primitives(1000);
    for (const int& p : primitives) {
        const taking_for mine(h.as_taker());
        holdings::took(&p, &p, 1, &three);
    }
    EXPECT_EQ(h.references, 1000);
    EXPECT_TRUE(holdings::track(false));
    EXPECT_EQ(h.references, 0);
    holdings::took(&primitives[0], &primitives[0], 1, &three);  // one that comes late
    EXPECT_TRUE(all_of(primitives.data()).empty());
    holdings::gave(&primitives[0], &primitives[0]);
}

TEST(holdings, OBS_222_a_moved_handle_is_not_sure) {
    const tracking on;
    holder h("one");
    const int primitive = 0;
    const int first = 0;
    const int second = 0;
    {
        const taking_for mine(h.as_taker());
        holdings::took(&primitive, &first, 1, &three);
    }
    holdings::moved(&primitive, &first, &second);
    ASSERT_EQ(all_of(&primitive).size(), 1U);
    EXPECT_FALSE(all_of(&primitive)[0].is_sure);
    holdings::gave(&primitive, &first);  // empty by now
    EXPECT_EQ(all_of(&primitive).size(), 1U);
    char text[80];
    const std::size_t length = holdings::describe(&primitive, text, sizeof text);
    EXPECT_EQ(std::string(text, length), "held 0 ms, taken by job 'one'");
    holdings::gave(&primitive, &second);
    EXPECT_EQ(h.references, 0);
}

TEST(holdings, OBS_224_the_total_only_grows) {
    const tracking on;
    const int primitive = 0;
    const int guard = 0;
    holdings::took(&primitive, &guard, 1, &three);
    holdings::raise_total(&primitive, 5);
    EXPECT_EQ(all_of(&primitive)[0].total, 5U);
    holdings::raise_total(&primitive, 4);
    EXPECT_EQ(all_of(&primitive)[0].total, 5U);
    holdings::gave(&primitive, &guard);
}

TEST(holdings, OBS_229_no_stamp_repeats) {
    std::int64_t last = 0;
    for (int i = 0; i < 10'000; ++i) {
        const std::int64_t next = holdings::stamp();
        ASSERT_GT(next, last);
        last = next;
    }
    EXPECT_LE(last, now().time_since_epoch().count() + 10'000);
}

TEST(holdings, OBS_228_text_that_does_not_fit_is_cut) {
    char text[8];
    bounded_text to(text, sizeof text);
    to << "12345" << std::uint64_t(67) << "89";
    EXPECT_EQ(std::string(text, to.length()), "12345678");
    to << std::chrono::seconds(1) << site::here();
    EXPECT_EQ(to.length(), 8U);
}

}  // namespace
