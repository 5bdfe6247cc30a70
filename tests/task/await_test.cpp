// Foreign awaitables inside a task.
#include <roost/base/error.hpp>
#include <roost/sync/condition.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/detail/frame/await.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/timeout.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <coroutine>
#include <stdexcept>
#include <string>
#include <thread>

using namespace roost;
using namespace roost::ext;
using namespace std::chrono_literals;

namespace {

// What other libraries hand out: keeps the handle and resumes it later, on any thread.
class foreign {
public:
    explicit foreign(int& alive, bool is_ready = false) : alive_(&alive), ready_(is_ready) {}

    class awaiter {
    public:
        explicit awaiter(foreign& from) : from_(&from) {}
        [[nodiscard]] bool await_ready() const noexcept { return from_->ready_; }
        void await_suspend(std::coroutine_handle<> h) const noexcept { from_->waiting = h; }
        [[nodiscard]] rig::tracked await_resume() const {
            ++from_->resumed;
            if (from_->fails) {
                throw std::runtime_error("foreign failure");
            }
            return rig::tracked(*from_->alive_);
        }

    private:
        foreign* from_;
    };
    awaiter operator co_await() { return awaiter(*this); }
    void complete() { std::exchange(waiting, nullptr).resume(); }

    std::coroutine_handle<> waiting;
    int resumed = 0;
    bool fails = false;

private:
    int* alive_;
    bool ready_;
};

task<> await_foreign(foreign& f, bool& went_on) {
    const job me = co_await this_job();
    auto value = co_await f;
    went_on = true;
    EXPECT_EQ(current_job(), me);
}

TEST(await, TASK_13_a_foreign_await_completes_as_usual) {
    rig::stage s;
    int alive = 0;
    foreign f(alive);
    bool went_on = false;
    s.play(await_foreign(f, went_on));
    EXPECT_TRUE(f.waiting);
    f.complete();
    EXPECT_FALSE(went_on) << "it goes on where it belongs, not inside the foreign library";
    s.run();
    EXPECT_TRUE(went_on);
    EXPECT_EQ(alive, 0);
}

TEST(await, TASK_14_resumed_on_any_thread_it_comes_back_to_its_executor) {
    rig::stage s;
    int alive = 0;
    foreign f(alive);
    bool went_on = false;
    s.play(await_foreign(f, went_on));
    std::thread([&] { f.complete(); }).join();
    EXPECT_FALSE(went_on);
    s.run();
    EXPECT_TRUE(went_on);
}

TEST(await, TASK_13_cancel_does_not_abandon_it_and_takes_effect_when_it_completes) {
    rig::stage s;
    int alive = 0;
    foreign f(alive);
    bool went_on = false;
    const job j = s.play(await_foreign(f, went_on));
    j.cancel();
    s.run();
    EXPECT_EQ(j.state(), job_state::cancelling);
    f.complete();
    s.run();
    EXPECT_FALSE(went_on);
    EXPECT_EQ(f.resumed, 1) << "its await_resume runs";
    EXPECT_EQ(alive, 0) << "and its value is destroyed";
    EXPECT_EQ(j.state(), job_state::cancelled);
}

task<int> count_foreign(foreign& f) {
    auto value = co_await f;
    co_return 1;
}
task<> limit_foreign(foreign& f, std::string& log) {
    const auto got = co_await move_on_after(10ms, count_foreign(f));
    log += got ? "value" : "late";
}

TEST(await, TASK_13_JOB_20_a_value_that_comes_after_a_deadline_is_given_to_the_body) {
    rig::stage s;
    int alive = 0;
    foreign f(alive);
    std::string log;
    s.play(limit_foreign(f, log));
    s.advance(20ms);
    EXPECT_EQ(log, "") << "a pending one is not abandoned";
    f.complete();
    s.run();
    EXPECT_EQ(log, "value");
    EXPECT_EQ(alive, 0);
}

TEST(await, TASK_13_before_it_begins_a_cancelled_job_ends) {
    rig::stage s;
    int alive = 0;
    foreign f(alive, true);
    bool went_on = false;
    const job j = s.start(await_foreign(f, went_on));
    s.root.tree_node().cancel();
    s.run();
    EXPECT_EQ(f.resumed, 0);
    EXPECT_FALSE(went_on);
    EXPECT_EQ(j.state(), job_state::cancelled);
}

task<> catch_foreign(foreign& f, std::string& what) {
    try {
        auto value = co_await f;
    } catch (const std::runtime_error& e) {
        what = e.what();
    }
}

TEST(await, TASK_13_a_foreign_failure_reaches_the_body_even_if_it_was_cancelled) {
    for (const bool cancel : {false, true}) {
        rig::stage s;
        int alive = 0;
        foreign f(alive);
        f.fails = true;
        std::string what;
        const job j = s.play(catch_foreign(f, what));
        if (cancel) {
            j.cancel();
        }
        f.complete();
        s.run();
        EXPECT_EQ(what, "foreign failure");
        EXPECT_EQ(f.resumed, 1);
        EXPECT_EQ(j.state(), job_state::completed) << "it caught the error and returned without another await";
    }
}

// The three things await_suspend may return, and throwing.
class says_no {
public:
    says_no() = default;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] bool await_suspend(std::coroutine_handle<>) const noexcept { return false; }
    [[nodiscard]] int await_resume() const noexcept { return 1; }
};
class transfers_back {
public:
    transfers_back() = default;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<> h) const noexcept { return h; }
    [[nodiscard]] int await_resume() const noexcept { return 2; }
};
class throws_early {
public:
    throws_early() = default;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) const { throw std::runtime_error("early"); }
    void await_resume() const noexcept {}
};
class resumes_inside {
public:
    resumes_inside() = default;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) const { h.resume(); }
    [[nodiscard]] int await_resume() const noexcept { return 4; }
};
class resumes_and_transfers {
public:
    resumes_and_transfers() = default;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<> h) const {
        h.resume();
        return std::noop_coroutine();
    }
    [[nodiscard]] int await_resume() const noexcept { return 8; }
};

task<> all_kinds(int& sum, bool& thrown) {
    sum += co_await says_no();
    sum += co_await transfers_back();
    sum += co_await resumes_inside();
    sum += co_await resumes_and_transfers();
    try {
        co_await throws_early();
    } catch (const std::runtime_error&) {
        thrown = true;
    }
    co_await std::suspend_never();
}

TEST(await, TASK_15_every_kind_of_await_suspend_works) {
    rig::stage s;
    int sum = 0;
    bool thrown = false;
    const job j = s.play(all_kinds(sum, thrown));
    EXPECT_EQ(sum, 15);
    EXPECT_TRUE(thrown);
    EXPECT_EQ(j.state(), job_state::completed);
}

TEST(await, TASK_15_every_kind_of_await_suspend_works_where_work_runs_inside_post) {
    inline_executor here;
    owned_scope root(here, scope_options("root").report_failures());
    int sum = 0;
    bool thrown = false;
    const job j = root.launch("inline", all_kinds(sum, thrown));
    EXPECT_EQ(sum, 15);
    EXPECT_TRUE(thrown);
    EXPECT_EQ(j.state(), job_state::completed);
    root.request_close();
    EXPECT_TRUE(root.is_closed());
}

// Resumed on the caller's stack: an explicit choice of the executor.
task<> wait_inline(event& e, int& steps) {
    ++steps;
    co_await e.wait();
    ++steps;
    co_await yield();
    ++steps;
}

TEST(await, TASK_14_an_inline_executor_runs_everything_on_the_waker) {
    inline_executor here;
    owned_scope root(here, scope_options("root").report_failures());
    event e;
    int steps = 0;
    const job j = root.launch("inline", wait_inline(e, steps));
    EXPECT_EQ(steps, 1);
    e.set();
    EXPECT_EQ(steps, 3);
    EXPECT_EQ(j.state(), job_state::completed);
    event never;
    const job k = root.launch("inline", wait_inline(never, steps));
    k.cancel();
    EXPECT_EQ(k.state(), job_state::cancelled);
    root.request_close();
    EXPECT_TRUE(root.is_closed());
}

// Waiting unlocks the mutex, which runs the mutex's next waiter, which notifies and unlocks: all inside the first one's await.
task<> wait_for_news(mutex& m, condition& news, event& go, std::string& log) {
    auto held = co_await m.lock();
    co_await go.wait();
    log += "waits ";
    co_await news.wait(held);
    log += held ? "holds " : "has lost it ";
}
task<> tell_news(mutex& m, condition& news, std::string& log) {
    {
        auto held = co_await m.lock();
        log += "tells ";
        news.notify_one();
    }
    log += "told ";
}
task<> pass_by(mutex& m, std::string& log) {
    static_cast<void>(co_await m.lock());
    log += "passes ";
}

TEST(await, TASK_95_a_body_that_is_brought_back_inside_its_own_await_goes_on_after_it) {
    inline_executor here;
    owned_scope root(here, scope_options("root").report_failures());
    mutex m;
    condition news;
    event go;
    std::string log;
    const job waits = root.launch("waits", wait_for_news(m, news, go, log));
    const job tells = root.launch("tells", tell_news(m, news, log));
    const job passes = root.launch("passes", pass_by(m, log));
    EXPECT_EQ(log, "");
    go.set();
    EXPECT_EQ(waits.state(), job_state::completed);
    EXPECT_EQ(tells.state(), job_state::completed);
    EXPECT_EQ(passes.state(), job_state::completed);
    EXPECT_EQ(log, "waits tells passes told holds ");
    root.request_close();
    EXPECT_TRUE(root.is_closed());
}

task<> cancel_inside(mutex& m, condition& news, job& whom, bool tells, std::string& log) {
    auto held = co_await m.lock();
    whom.cancel();
    log += "cancels ";
    if (tells) {
        news.notify_one();
    }
}

TEST(await, TASK_95_so_does_one_that_is_cancelled_there) {
    for (const bool tells : {true, false}) {
        inline_executor here;
        owned_scope root(here, scope_options("root").report_failures());
        mutex m;
        condition news;
        event go;
        std::string log;
        job waits = root.launch("waits", wait_for_news(m, news, go, log));
        const job cancels = root.launch("cancels", cancel_inside(m, news, waits, tells, log));
        go.set();
        EXPECT_EQ(cancels.state(), job_state::completed);
        EXPECT_EQ(waits.state(), tells ? job_state::completed : job_state::cancelled);
        EXPECT_EQ(log, tells ? "waits cancels holds " : "waits cancels ");
        EXPECT_TRUE(m.try_lock()) << "nobody holds it";
        root.request_close();
        EXPECT_TRUE(root.is_closed());
    }
}

task<> tell_what(foreign& f, std::string& what) {
    try {
        static_cast<void>(co_await f);
    } catch (const error& e) {
        what = e.what();
    }
}
TEST(await, TASK_103_an_awaitable_that_destroys_the_coroutine_it_was_to_resume_fails_the_await) {
    for (const bool cancelled : {false, true}) {
        rig::stage s;
        int alive = 0;
        foreign f(alive);
        std::string what;
        const job j = s.play(tell_what(f, what), "asks");
        if (cancelled) {
            j.cancel();
            s.run();
        }
        std::exchange(f.waiting, nullptr).destroy();
        EXPECT_EQ(what, "") << "not inside the foreign library";
        s.run();
        EXPECT_EQ(what.find("job 'asks' awaited a foreign awaitable that destroyed the coroutine it was to resume"), 0U)
            << what;
        EXPECT_TRUE(j.is_finished());
        EXPECT_EQ(f.resumed, 0) << "there is no result to take";
    }
}

}  // namespace
