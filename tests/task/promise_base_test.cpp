// Frames and links: who is destroyed when, and what a link holds.
#include <roost/sync/event.hpp>
#include <roost/task/detail/frame/promise_base.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

using namespace roost;

namespace {

static_assert(sizeof(detail::promise_base) == 3 * sizeof(void*), "a frame pays two pointers and the line of its await");
static_assert(std::is_trivially_destructible_v<detail::promise_base>);

TEST(promise_base, TASK_2_a_link_holds_a_value_an_error_or_a_reason_one_after_the_other) {
    int alive = 0;
    {
        detail::result_link<rig::tracked> link;
        link.emplace(rig::tracked(alive));
        EXPECT_EQ(alive, 1);
        EXPECT_EQ(link.state(), detail::ending::returned);
        link.fail(std::make_exception_ptr(std::runtime_error("x")));
        EXPECT_EQ(alive, 0);
        EXPECT_THROW(static_cast<void>(link.take()), std::runtime_error);
        link.clear();
        link.settle_cancelled(reason(reason_kind::timeout, "late"));
        EXPECT_EQ(link.why().text(), "late");
        link.clear();
        link.emplace(rig::tracked(alive));
    }
    EXPECT_EQ(alive, 0);
}

class tells {
public:
    tells(std::string& log, char name) : log_(&log), name_(name) {}
    tells(tells&& other) noexcept : log_(std::exchange(other.log_, nullptr)), name_(other.name_) {}
    ~tells() {
        if (log_ != nullptr) {
            log_->push_back(name_);
        }
    }

private:
    std::string* log_;
    char name_;
};

task<> level_three(tells, event& e) { co_await e.wait(); }
task<> level_two(tells, event& e, std::string& log) { co_await level_three(tells(log, '3'), e); }
task<> level_one(tells, event& e, std::string& log) { co_await level_two(tells(log, '2'), e, log); }

TEST(promise_base, TASK_10_each_frame_with_its_arguments_goes_before_the_one_that_awaited_it) {
    for (const bool cancel : {false, true}) {
        rig::stage s;
        event e;
        std::string log;
        const job j = s.play(level_one(tells(log, '1'), e, log));
        cancel ? static_cast<void>(j.cancel()) : e.set();
        s.run();
        EXPECT_EQ(log, "321");
    }
}

}  // namespace
