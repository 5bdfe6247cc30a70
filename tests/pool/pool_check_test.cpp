// Health checks that take their time: an awaitable check answers when the test says so.

#include <roost/testing/virtual_time.hpp>

#include <gtest/gtest.h>

#include "support.hpp"

#include <deque>

namespace {

using namespace pool_testing;
using namespace std::chrono_literals;
using roost::event;
using roost::pool;
using roost::pool_options;
using roost::wait_status;
using roost::testing::virtual_time;

enum class verdict { fine, broken, throws };

// The questions asked so far; the test answers them one by one.
struct clinic {
    struct question {
        event answered;
        verdict says = verdict::fine;
    };
    std::deque<question> asked;
    roost::seam::atomic<std::uint32_t> count{0};  // for other threads

    void answer(std::size_t i, verdict v) {
        asked[i].says = v;
        asked[i].answered.set();
    }
};

class examination {
public:
    explicit examination(clinic::question& q) noexcept : question_(&q), wait_(q.answered.wait()) {}
    examination(examination&&) noexcept = default;
    bool await_ready() noexcept { return wait_.await_ready(); }
    template <class P>
    bool await_suspend(std::coroutine_handle<P> h) noexcept {
        return wait_.await_suspend(h);
    }
    bool await_resume() {
        wait_.await_resume();
        if (question_->says == verdict::throws) {
            throw std::runtime_error("no pulse");
        }
        return question_->says == verdict::fine;
    }

private:
    clinic::question* question_;
    decltype(std::declval<event&>().wait()) wait_;
};

class pool_check : public testing::Test {
protected:
    pool<thing> make(pool_options o) {
        return pool<thing>(std::move(o), factory(l), undertaker(l), [this](thing&) {
            doctor.asked.emplace_back();
            doctor.count.fetch_add(1, roost::seam::mo::release);
            return examination(doctor.asked.back());
        });
    }
    // A pool whose resources were used once and are idle.
    static void use_all(pool<thing>& p, std::uint32_t count) {
        std::vector<roost::acquired<thing>> all;
        for (std::uint32_t i = 0; i < count; ++i) {
            all.push_back(p.acquire_blocking());
        }
    }
    ledger l;
    clinic doctor;
};

TEST_F(pool_check, POOL_30_an_acquire_waits_for_an_awaitable_check) {
    auto p = make(one_stripe(1));
    use_all(p, 1);
    EXPECT_TRUE(doctor.asked.empty()) << "a new one is not checked";
    client a(p);
    EXPECT_FALSE(a.done());
    EXPECT_EQ(doctor.asked.size(), 1U);
    EXPECT_EQ(p.stats().busy, 1U);
    doctor.answer(0, verdict::fine);
    ASSERT_TRUE(a.done() && a.got());
    EXPECT_EQ(a.got()->id, 1);
    EXPECT_EQ(l.made, 1);
}

TEST_F(pool_check, POOL_30_a_check_that_says_no_or_throws_costs_the_resource_not_the_acquire) {
    int told = 0;
    pool_options o = one_stripe(1);
    o.on_error = [&](const roost::pool_error& e) { told += e.operation() == roost::pool_error::step::check ? 1 : 0; };
    auto p = make(o);
    use_all(p, 1);
    client a(p);
    doctor.answer(0, verdict::broken);
    ASSERT_TRUE(a.done() && a.got());
    EXPECT_EQ(a.got()->id, 2) << "a new one";
    a.let_go();
    client b(p);
    doctor.answer(1, verdict::throws);
    ASSERT_TRUE(b.done() && b.got());
    EXPECT_EQ(b.got()->id, 3);
    EXPECT_EQ(told, 1);
    EXPECT_EQ(p.stats().checks_failed, 2U);
    expect_conserved(p, l);
}

TEST_F(pool_check, POOL_30_the_first_waiter_gets_what_comes_first) {
    auto p = make(one_stripe(2));
    use_all(p, 1);
    client a(p);  // waits for its check
    client b(p);
    ASSERT_TRUE(b.done() && b.got()) << "what is free is not kept back by somebody else's check";
    client c(p);
    EXPECT_FALSE(c.done());
    b.let_go();
    EXPECT_TRUE(a.done() && a.got()) << "first come, first served";
    EXPECT_EQ(a.got()->id, 2);
    EXPECT_FALSE(c.done());
    doctor.answer(0, verdict::fine);
    ASSERT_TRUE(c.done() && c.got());
    EXPECT_EQ(c.got()->id, 1) << "the check went on for whoever is next";
    a.let_go();
    c.let_go();
    EXPECT_EQ(p.stats().idle, 2U);
}

TEST_F(pool_check, POOL_30_every_idle_resource_is_checked_for_a_waiter) {
    auto p = make(one_stripe(2));
    use_all(p, 2);
    client a(p);
    client b(p);
    EXPECT_FALSE(a.done() || b.done());
    EXPECT_EQ(doctor.asked.size(), 2U);
    p.resize(2);  // serves waiters, and must not hand out an unchecked resource
    EXPECT_FALSE(a.done() || b.done());
    doctor.answer(1, verdict::fine);
    EXPECT_TRUE(a.done());
    doctor.answer(0, verdict::broken);
    EXPECT_TRUE(b.done());
    EXPECT_EQ(l.made, 3);
    expect_conserved(p, l);
}

TEST_F(pool_check, POOL_32_a_cancelled_acquire_leaves_its_check_running_and_the_resource_is_kept) {
    auto p = make(one_stripe(1));
    use_all(p, 1);
    {
        client a(p);
        EXPECT_TRUE(a.cancel());
    }
    client b(p);
    EXPECT_FALSE(b.done());
    EXPECT_EQ(doctor.asked.size(), 1U);
    doctor.answer(0, verdict::fine);
    EXPECT_TRUE(b.done() && b.got()) << "the next one gets what was checked";
    b.let_go();
    {
        client c(p);
        EXPECT_TRUE(c.cancel());
    }
    doctor.answer(1, verdict::fine);
    EXPECT_EQ(p.stats().idle, 1U);
    expect_conserved(p, l);
}

TEST_F(pool_check, POOL_4_try_acquire_begins_a_check_for_a_later_acquire) {
    auto p = make(one_stripe(1));
    use_all(p, 1);
    EXPECT_EQ(p.try_acquire().status(), wait_status::empty);
    EXPECT_EQ(doctor.asked.size(), 1U);
    EXPECT_EQ(p.try_acquire().status(), wait_status::empty);
    EXPECT_EQ(doctor.asked.size(), 1U) << "one check at a time";
    client a(p);
    doctor.answer(0, verdict::fine);
    EXPECT_TRUE(a.done() && a.got());
    EXPECT_EQ(doctor.asked.size(), 1U);
}

TEST_F(pool_check, POOL_30_a_thread_waits_for_the_check_too) {
    auto p = make(one_stripe(1));
    use_all(p, 1);
    roost::seam::thread other([&] {
        while (doctor.count.load(roost::seam::mo::acquire) == 0) {
            roost::seam::yield_thread();
        }
        doctor.answer(0, verdict::broken);
    });
    const roost::acquired<thing> got = p.acquire_blocking();
    other.join();
    EXPECT_TRUE(got);
    EXPECT_EQ(l.made, 2);
    EXPECT_EQ(p.acquire_blocking(roost::now()).status(), wait_status::expired);
}

TEST_F(pool_check, POOL_42_closing_waits_for_a_check) {
    auto p = make(one_stripe(1));
    use_all(p, 1);
    client a(p);
    EXPECT_FALSE(p.close_blocking(roost::now()));
    EXPECT_EQ(a.got().status(), wait_status::closed);
    doctor.answer(0, verdict::fine);
    EXPECT_TRUE(p.close_blocking(roost::now()));
    EXPECT_EQ(l.alive(), 0);
}

TEST_F(pool_check, POOL_30_an_operation_that_never_suspends_leaves_its_resource_to_a_check_aside) {
    auto p = make(one_stripe(1));
    use_all(p, 1);
    {
        auto op = p.acquire();
        EXPECT_FALSE(op.await_ready());
    }
    EXPECT_EQ(p.stats().out, 0U);
    doctor.answer(0, verdict::fine);
    EXPECT_EQ(p.stats().idle, 1U);
}

// Between the taking and the queueing the pool was closed: what was taken goes, unchecked.
TEST_F(pool_check, POOL_42_what_was_taken_for_a_check_goes_when_the_pool_is_closed_meanwhile) {
    auto p = make(one_stripe(1));
    use_all(p, 1);
    hand_executor where;
    auto op = p.acquire();
    EXPECT_FALSE(op.await_ready());
    EXPECT_FALSE(p.close_blocking(roost::now()));
    EXPECT_FALSE(op.start(roost::ext::resume_target(nullptr, nullptr, where)));
    EXPECT_EQ(op.await_resume().status(), wait_status::closed);
    EXPECT_TRUE(doctor.asked.empty());
    EXPECT_EQ(l.alive(), 0);
    EXPECT_TRUE(p.close_blocking(roost::now()));
}

TEST_F(pool_check, POOL_17_no_waiter_is_overtaken_behind_a_check) {
    auto p = make(one_stripe(1));
    use_all(p, 1);
    client a(p);  // its check is under way
    client b(p);
    client c(p);
    EXPECT_FALSE(a.done() || b.done() || c.done());
    EXPECT_EQ(doctor.asked.size(), 1U);
    doctor.answer(0, verdict::fine);
    ASSERT_TRUE(a.done());
    a.let_go();
    ASSERT_TRUE(b.done());
    EXPECT_FALSE(c.done());
    b.let_go();
    EXPECT_TRUE(c.done());
}

TEST(pool_check_timeout, POOL_30_a_check_that_hangs_costs_the_resource_and_frees_the_place) {
    virtual_time time;
    ledger l;
    clinic doctor;
    pool_options o = one_stripe(1);
    o.where = time;
    o.timers = &time;
    o.exact_clock = true;
    o.check_timeout = 10ms;
    {
        pool<thing> p(o, factory(l), undertaker(l), [&](thing&) {
            doctor.asked.emplace_back();
            doctor.count.fetch_add(1, roost::seam::mo::release);
            return examination(doctor.asked.back());
        });
        static_cast<void>(p.acquire_blocking());
        client a(p);
        time.advance(9ms);
        EXPECT_FALSE(a.done());
        time.advance(2ms);
        ASSERT_TRUE(a.done() && a.got());
        EXPECT_EQ(a.got()->id, 2);
        EXPECT_EQ(p.stats().abandoned, 1U);
        EXPECT_EQ(l.destroyed, 0) << "the check still has it";
        doctor.answer(0, verdict::fine);
        time.run();
        EXPECT_EQ(l.destroyed, 1) << "too late";
        a.let_go();
        expect_conserved(p, l);
    }
    time.run();
    EXPECT_EQ(l.alive(), 0);
}

}  // namespace
