#include <roost/service/ledger.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <type_traits>

namespace roost::service {
namespace {

static_assert(!std::is_copy_constructible_v<ledger::entry> && std::is_nothrow_move_constructible_v<ledger::entry>);
static_assert(!std::is_copy_constructible_v<ledger>);

TEST(ledger, SVC_70_the_line_is_exactly_this) {
    EXPECT_EQ(ledger_counts(10, 4, 3, 2, 1).to_string(),
              "ledger: accepted=10 completed=4 failed=3 cancelled=2 abandoned=1 lost=0");
    EXPECT_EQ(ledger_counts(3, 1, 0, 0, 0).to_string(),
              "ledger: accepted=3 completed=1 failed=0 cancelled=0 abandoned=0 lost=2");
}

TEST(ledger, SVC_71_an_entry_is_settled_once) {
    ledger book;
    {
        auto a = book.accept();
        auto b = book.accept();
        auto c = book.accept();
        auto d = book.accept();
        EXPECT_EQ(book.read().open(), 4U);
        a.complete();
        a.fail();  // too late
        b.fail();
        c.cancel();
        d.abandon();
        EXPECT_FALSE(a.is_open());
    }
    EXPECT_EQ(book.read().to_string(), "ledger: accepted=4 completed=1 failed=1 cancelled=1 abandoned=1 lost=0");
}

TEST(ledger, SVC_71_moving_an_entry_changes_nothing) {
    ledger book;
    auto a = book.accept();
    ledger::entry b(std::move(a));
    EXPECT_FALSE(a.is_open());
    ledger::entry c;
    c = std::move(b);
    auto* self = &c;
    c = std::move(*self);
    EXPECT_TRUE(c.is_open());
    EXPECT_EQ(book.read().open(), 1U);
    c = book.accept();  // drops the first
    EXPECT_EQ(book.read().cancelled(), 1U);
    c.complete();
    EXPECT_EQ(book.read().all_settled(), 2U);
}

TEST(ledger, SVC_71_dropped_unsettled_is_cancelled_or_failed) {
    ledger book;
    { auto a = book.accept(); }
    EXPECT_EQ(book.read().cancelled(), 1U);
    try {
        auto b = book.accept();
        throw std::runtime_error("no");
    } catch (const std::runtime_error&) {}
    EXPECT_EQ(book.read().failed(), 1U);
    EXPECT_EQ(book.read().cancelled(), 1U);
}

TEST(ledger, SVC_72_a_forced_end_abandons_what_is_open) {
    EXPECT_EQ(ledger_counts(5, 1, 1, 0, 0).forced().to_string(),
              "ledger: accepted=5 completed=1 failed=1 cancelled=0 abandoned=3 lost=0");
}

}  // namespace
}  // namespace roost::service
