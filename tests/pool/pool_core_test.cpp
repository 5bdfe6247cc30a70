// Properties against a sequential model: every short sequence of operations, and many long random ones; and known defects.

#include <gtest/gtest.h>

#include "support.hpp"

#include <malloc.h>

#include <deque>
#include <memory>
#include <random>
#include <vector>

namespace {

using namespace pool_testing;
using roost::pool;
using roost::pool_options;
using roost::wait_status;

// A pool of `capacity`, its clients, and what a sequential model says about them: who waits, in which order.
class trial {
public:
    explicit trial(std::uint32_t capacity, std::uint32_t stripes) : capacity_(capacity) {
        pool_options o(capacity, "trial");
        o.stripes = stripes;
        pool_.emplace(make_pool(ledger_, o));
    }
    enum op : unsigned {
        acquire,
        release_first,
        release_last,
        discard_first,
        cancel_first,
        cancel_last,
        failing,
        clear,
        ops
    };

    void step(unsigned what) {
        switch (what) {
            case acquire: arrive(); break;
            case release_first: release(0, false); break;
            case release_last: release(holders_.size() - 1, false); break;
            case discard_first: release(0, true); break;
            case cancel_first: withdraw(0); break;
            case cancel_last: withdraw(waiting_.size() - 1); break;
            case failing: ledger_.fail_next = 1; break;
            case clear: pool_->clear_idle(); break;
            default: break;
        }
        settle();
    }
    void finish() {
        while (!waiting_.empty()) {
            step(cancel_first);
        }
        while (!holders_.empty()) {
            step(release_first);
        }
        ASSERT_EQ(pool_->stats().out, 0U);
        pool_.reset();
        ASSERT_EQ(ledger_.alive(), 0) << "everything that was made was destroyed";
        ASSERT_LE(ledger_.most_alive, static_cast<int>(capacity_)) << "POOL-22: never more than the capacity";
    }

private:
    void arrive() {
        const bool must_wait = holders_.size() == capacity_;
        auto c = std::make_unique<client>(*pool_);
        ASSERT_EQ(c->done(), !must_wait) << "POOL-3: waits only when everything is out";
        if (must_wait) {
            waiting_.push_back(std::move(c));
        } else if (c->got()) {
            holders_.push_back(std::move(c));
        }
    }
    void release(std::size_t which, bool broken) {
        if (which >= holders_.size()) {
            return;
        }
        auto c = std::move(holders_[which]);
        holders_.erase(holders_.begin() + static_cast<std::ptrdiff_t>(which));
        if (broken) {
            c->discard();
        }
        c->let_go();
    }
    void withdraw(std::size_t which) {
        if (which >= waiting_.size()) {
            return;
        }
        ASSERT_TRUE(waiting_[which]->cancel());
        waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(which));
    }
    // FIFO: exactly the first so many are served as there are places; one that got an error has left, too.
    void settle() {
        while (!waiting_.empty() && waiting_.front()->done()) {
            if (waiting_.front()->got()) {
                holders_.push_back(std::move(waiting_.front()));
            }
            waiting_.pop_front();
        }
        for (const auto& c : waiting_) {
            ASSERT_FALSE(c->done()) << "POOL-17: somebody was overtaken";
        }
        ASSERT_TRUE(waiting_.empty() || holders_.size() == capacity_) << "a waiter is queued although there is room";
        ASSERT_EQ(pool_->stats().out, holders_.size());
        ASSERT_EQ(pool_->stats().waiting, waiting_.size());
        expect_conserved(*pool_, ledger_);
    }

    std::uint32_t capacity_;
    ledger ledger_;
    std::optional<pool<thing>> pool_;
    std::vector<std::unique_ptr<client>> holders_;
    std::deque<std::unique_ptr<client>> waiting_;
};

TEST(pool_core, POOL_15_every_sequence_of_five_operations) {
    constexpr unsigned length = 5;
    unsigned long total = 1;
    for (unsigned i = 0; i < length; ++i) {
        total *= trial::ops;
    }
    for (const std::uint32_t capacity : {1U, 2U}) {
        for (unsigned long n = 0; n < total; ++n) {
            trial t(capacity, capacity);
            unsigned long rest = n;
            for (unsigned i = 0; i < length; ++i, rest /= trial::ops) {
                t.step(static_cast<unsigned>(rest % trial::ops));
            }
            t.finish();
            ASSERT_FALSE(HasFailure()) << "capacity " << capacity << ", sequence " << n;
        }
    }
}

TEST(pool_core, POOL_15_long_random_sequences) {
    for (unsigned seed = 1; seed <= 60; ++seed) {
        std::mt19937 random(seed);
        trial t(1 + seed % 12, 1 + seed % 3);
        for (int i = 0; i < 400; ++i) {
            const auto roll = static_cast<unsigned>(random() % (trial::ops + 6));
            t.step(roll < trial::ops ? roll : roll % 2 == 0 ? trial::acquire : trial::release_first);
        }
        t.finish();
        ASSERT_FALSE(HasFailure()) << "seed " << seed;
    }
}

TEST(pool_core, RPB_1_sequential_uses_do_not_multiply_capacity) {
    ledger l;
    auto p = make_pool(l, one_stripe(1));
    for (int i = 0; i < 5; ++i) {
        client c(p);
    }
    std::vector<std::unique_ptr<client>> all;
    int served = 0;
    for (int i = 0; i < 6; ++i) {
        all.push_back(std::make_unique<client>(p));
        served += all.back()->done() ? 1 : 0;
    }
    EXPECT_EQ(served, 1);
    EXPECT_EQ(l.made, 1);
}

TEST(pool_core, RPB_2_destroying_with_no_waiter_gives_the_capacity_back) {
    ledger l;
    auto p = make_pool(l, one_stripe(1));
    {
        client c(p);
        c.discard();
    }
    client again(p);
    EXPECT_TRUE(again.done() && again.got());
}

TEST(pool_core, POOL_9_a_failed_creation_gives_its_place_back) {
    ledger l;
    auto p = make_pool(l, one_stripe(1));
    for (int i = 0; i < 5; ++i) {
        l.fail_next = 1;
        EXPECT_EQ(p.try_acquire_or_create().status(), wait_status::failed);
        EXPECT_EQ(p.stats().free, 1U);
    }
    EXPECT_TRUE(p.try_acquire_or_create());
    expect_conserved(p, l);
}

TEST(pool_core, RPB_5_creation_that_throws_with_waiters_queued_strands_no_waiter) {
    ledger l;
    auto p = make_pool(l, one_stripe(1));
    client holder(p);
    client first(p);
    client second(p);
    l.fail_next = 1;
    holder.discard();
    EXPECT_EQ(first.got().status(), wait_status::failed);
    EXPECT_TRUE(second.done() && second.got());
}

TEST(pool_core, RPB_6_a_million_cancellations_leave_nothing_behind) {
    ledger l;
    auto p = make_pool(l, one_stripe(1));
    client holder(p);
    client patient(p);
    const long rounds = sync_testing::rounds(1e6);
    std::size_t bytes_before = 0;
    for (long i = 0; i < rounds; ++i) {
        client c(p);
        ASSERT_TRUE(c.cancel());
        bytes_before = i == rounds / 100 ? ::mallinfo2().uordblks : bytes_before;
    }
    EXPECT_LE(::mallinfo2().uordblks, bytes_before + 4096) << "memory is flat";
    EXPECT_EQ(p.stats().waiting, 1U);
    EXPECT_EQ(p.stats().withdrawn, static_cast<std::uint64_t>(rounds));
    holder.let_go();
    EXPECT_TRUE(patient.done());
}

TEST(pool_core, RPB_7_waiting_inside_with_can_be_cancelled) {
    ledger l;
    auto p = make_pool(l, one_stripe(1));
    client holder(p);
    bool ran = false;
    const auto body = [&ran](thing&) { ran = true; };
    auto waits = p.with(body);
    hand_executor where;
    ASSERT_FALSE(waits.await_ready());
    ASSERT_TRUE(waits.start(roost::ext::resume_target(nullptr, nullptr, where)));
    EXPECT_TRUE(waits.try_cancel());
    holder.let_go();
    EXPECT_FALSE(ran);
    EXPECT_EQ(p.stats().idle, 1U);
}

TEST(pool_core, RPB_8_stripes_are_checked_and_a_waiter_uses_whichever_is_idle) {
    ledger l;
    pool_options o(2, "many stripes");
    o.stripes = 64;
    auto p = make_pool(l, o);
    EXPECT_EQ(p.stripes(), 2U) << "never more than there is capacity";
    client a(p);
    client b(p);
    EXPECT_NE(a.got().handle().stripe(), b.got().handle().stripe()) << "before waiting, other stripes are tried";
    client c(p);
    client d(p);
    a.let_go();
    b.let_go();
    EXPECT_TRUE(c.done() && d.done()) << "no waiter is stranded on a stripe";
    pool_options big(95, "big");
    big.stripes = 1;
    auto q = make_pool(l, big);
    EXPECT_EQ(q.stripes(), 10U) << "a stripe holds ten";
}

}  // namespace
