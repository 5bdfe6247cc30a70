#include <roost/base/error.hpp>
#include <roost/exec/detail/activity.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/detail/access.hpp>
#include <roost/task/sleep.hpp>

#include "rig.hpp"

#include "further.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>

using namespace roost;
using namespace roost::ext;
using namespace std::chrono_literals;

namespace {

task<int> answer() {
    co_await yield();
    co_await sleep_for(1ms);
    co_return 42;
}
task<> fails() {
    co_await yield();
    throw std::domain_error("outside");
}
task<> cancels_itself() {
    const job me = co_await this_job();
    me.cancel(reason(reason_kind::requested, "done early"));
    co_await checkpoint();
}

TEST(block_on, TASK_32_gives_the_value_or_throws_the_error) {
    runtime rt(runtime_options().workers(2));
    EXPECT_EQ(block_on(rt, answer()), 42);
    EXPECT_THROW(block_on(rt, fails()), std::domain_error);
    const auto ended = block_on_outcome(rt, cancels_itself());
    EXPECT_TRUE(ended.is_cancelled());
    EXPECT_EQ(ended.why().text(), "done early");
    EXPECT_THROW(block_on(rt, cancels_itself()), error);
}

task<std::string> block_inside(runtime& rt) {
    std::string what;
    try {
        block_on(rt, answer());
    } catch (const error& e) {
        if (e.kind() == errc::would_deadlock) {
            what = e.what();
        }
    }
    co_return what;
}

task<std::string> kind_of_its_scope() {
    co_return detail::task_access::core_of(current_job())->parent_scope().functions().kind;
}

TEST(block_on, JOB_51_the_scope_of_its_task_is_a_root_scope) {
    runtime rt(runtime_options().workers(1));
    EXPECT_EQ(block_on(rt, kind_of_its_scope()), "root scope");
}

TEST(block_on, TASK_32_inside_a_job_it_is_refused_by_name) {
    runtime rt(runtime_options().workers(1));
    const std::string what = block_on(rt, block_inside(rt), "outer");
    EXPECT_NE(what.find("inside job 'outer'"), std::string::npos) << what;
}

task<std::string> see_label() {
    std::string seen;
    detail::activity& mine = detail::activity::of_this_thread();
    std::thread([&] { mine.look([&](const detail::activity_label& label) { seen = label.name(); }); }).join();
    co_return seen;
}

TEST(block_on, TASK_7_a_watcher_sees_which_job_a_thread_is_busy_with) {
    runtime rt(runtime_options().workers(1));
    EXPECT_EQ(block_on(rt, see_label(), "busy"), "busy");
}

class block_in_work final : public work {
public:
    explicit block_in_work(runtime& rt) : work(run_it), rt_(&rt) {}
    event done;
    bool refused = false;

private:
    static void run_it(work& self) noexcept {
        auto& mine = static_cast<block_in_work&>(self);
        try {
            block_on(*mine.rt_, answer());
        } catch (const error& e) {
            mine.refused = e.kind() == errc::would_deadlock;
        }
        mine.done.set();
    }
    runtime* rt_;
};

TEST(block_on, TASK_32_on_a_worker_thread_it_is_refused) {
    runtime rt(runtime_options().workers(1));
    block_in_work w(rt);
    rt.post(w);
    w.done.wait_blocking();
    EXPECT_TRUE(w.refused);
}

task<> cancelled_with(std::string cleanup) {
    co_await on_exit(further::cleanup_fails, std::move(cleanup));
    co_await cancels_itself();
}

TEST(block_on, JOB_85_what_failed_beside_the_outcome_reaches_the_sink) {
    runtime rt(runtime_options().workers(1));
    further::listener sink;
    block_on(rt, further::return_with("beside a value"));
    EXPECT_EQ(sink.take(), further::texts{"beside a value"});
    EXPECT_THROW(block_on(rt, further::fail_twice("thrown", "beside it")), std::runtime_error);
    EXPECT_EQ(sink.take(), further::texts{"beside it"});
    EXPECT_THROW(block_on(rt, cancelled_with("beside a cancel")), error);
    EXPECT_EQ(sink.take(), further::texts{"beside a cancel"});
}

TEST(block_on, JOB_85_an_outcome_brings_along_what_failed_beside_its_error) {
    runtime rt(runtime_options().workers(1));
    further::listener sink;
    const auto failed = block_on_outcome(rt, further::fail_twice("thrown", "beside it"));
    EXPECT_EQ(further::texts_of(failed.others()), further::texts{"beside it"});
    EXPECT_EQ(sink.take(), further::texts());
    EXPECT_TRUE(block_on_outcome(rt, further::return_with("beside a value")).has_value());
    EXPECT_EQ(sink.take(), further::texts{"beside a value"});
    EXPECT_TRUE(block_on_outcome(rt, cancelled_with("beside a cancel")).is_cancelled());
    EXPECT_EQ(sink.take(), further::texts{"beside a cancel"});
}

}  // namespace
