#include <roost/observe/trace_hooks.hpp>

#include <roost/runtime/runtime.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/scope.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace roost;

struct log {
    std::vector<std::string> lines;
};
void start(void* to, const observe::job_event& e) noexcept {
    static_cast<log*>(to)->lines.push_back("start " + std::string(e.name()));
}
void end(void* to, const observe::job_event& e) noexcept {
    static_cast<log*>(to)->lines.push_back("end " + std::string(e.name()) + " " + std::string(to_string(e.state())));
}

task<> nothing() { co_return; }
task<> parent(scope& s) {
    s.launch("child", nothing());
    co_return;
}
task<> whole() { co_await with_scope(parent); }

TEST(trace_hooks, OBS_174_the_start_and_the_end_of_every_job_are_reported_until_it_is_destroyed) {
    runtime rt(runtime_options().workers(1));
    log seen;
    {
        const observe::trace_hooks spans(start, end, &seen);
        block_on(rt, whole(), "root");
    }
    const std::vector<std::string> before = seen.lines;
    block_on(rt, whole(), "root");
    EXPECT_EQ(seen.lines, before);
    EXPECT_EQ(before, (std::vector<std::string>{"start root", "start child", "end child completed", "end root completed"}));
}

}  // namespace
