#include <roost/observe/trace_context.hpp>

#include <roost/observe/snapshot.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/timeout.hpp>

#include "../task/rig.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <type_traits>

namespace {

using namespace roost;
using observe::trace_context;
using namespace std::chrono_literals;

static_assert(std::is_trivially_copyable_v<trace_context>);

constexpr const char* valid = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

TEST(trace_context, OBS_170_a_traceparent_is_parsed_and_written) {
    const auto trace = trace_context::parse(valid);
    ASSERT_TRUE(trace);
    EXPECT_EQ(trace->trace_id(), "0af7651916cd43dd8448eb211c80319c");
    EXPECT_EQ(trace->span_id(), "b7ad6b7169203331");
    EXPECT_TRUE(trace->is_recorded());
    EXPECT_EQ(trace->traceparent(), valid);
    EXPECT_FALSE(trace_context::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00")->is_recorded());
    EXPECT_EQ(trace_context::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-ff")->traceparent(), valid);
}

TEST(trace_context, OBS_171_what_breaks_the_rules_is_refused) {
    for (const char* broken : {
             "",
             "00",
             "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
             "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-",
             "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
             "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-",
             "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what",
             "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.",
             "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
             "0-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-011",
             ".0-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
             "00-00000000000000000000000000000000-b7ad6b7169203331-01",
             "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
             "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
             "00-0af7651916cd43dd8448eb211c80319c-B7AD6B7169203331-01",
             "00-.af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
             "00-0af7651916cd43dd8448eb211c80319c-.7ad6b7169203331-01",
             "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-.1",
             "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0X",
             "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
             "00-0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331-01",
             "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331_01",
             " 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
             "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 ",
             "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.what",
         }) {
        EXPECT_FALSE(trace_context::parse(broken)) << broken;
    }
    EXPECT_FALSE(trace_context::parse(std::string(10'240, '0')));
}

TEST(trace_context, OBS_171_later_versions_are_read_as_this_one) {
    const auto later = trace_context::parse("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    ASSERT_TRUE(later);
    EXPECT_EQ(later->traceparent(), valid);
    EXPECT_TRUE(trace_context::parse("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-the-future-brings"));
}

TEST(trace_context, OBS_172_new_ids_are_valid_and_differ) {
    std::set<std::string> seen;
    const trace_context root = trace_context::fresh();
    for (int i = 0; i < 1000; ++i) {
        const trace_context child = root.child();
        EXPECT_TRUE(trace_context::parse(child.traceparent()));
        EXPECT_EQ(child.trace_id(), root.trace_id());
        EXPECT_TRUE(seen.emplace(child.span_id()).second);
        EXPECT_TRUE(seen.emplace(trace_context::fresh().trace_id()).second);
    }
}

task<> look(std::string* found) {
    const trace_context* const trace = co_await observe::current_trace.find();
    *found = trace == nullptr ? "none" : std::string(trace->as_exemplar().trace_id());
}
task<> look_in_child(scope& s, std::string* found) {
    s.launch("child", look(found));
    co_return;
}
task<> request(std::string* found) { co_await with_scope(look_in_child, found); }
task<> with_trace(std::string* found) {
    co_await with_value(observe::current_trace, *trace_context::parse(valid), request(found));
}

task<> wait_for(event& e) { co_await e.wait(); }
task<> wait_below(scope& s, event& e) {
    s.launch("below", wait_for(e));
    co_await fail_after(1h, wait_for(e));
}
task<> wait_with_trace(event& e, observe::trace_context trace) {
    co_await with_value(observe::current_trace, trace, with_scope(wait_below, std::ref(e)));
}

TEST(trace_context, OBS_175_a_snapshot_has_the_trace_of_each_suspended_job) {
    rig::stage s;
    event go("go");
    const observe::trace_context trace = observe::trace_context::fresh();
    s.play(wait_with_trace(go, trace), "request");
    s.play(wait_for(go), "without");
    const observe::tree_snapshot all = observe::snapshot(s.root.tree_node());
    int with = 0;
    for (const observe::snapshot_row& r : all.rows()) {
        EXPECT_TRUE(r.trace.empty() || r.trace == trace.traceparent()) << r.trace;
        EXPECT_TRUE(r.trace.empty() || r.name == "below" || r.name == "deadline") << r.name;
        with += r.trace.empty() ? 0 : 1;
    }
    EXPECT_EQ(with, 2);
    EXPECT_NE(all.to_json().find("\"traceparent\":\"" + std::string(trace.traceparent())), std::string::npos);
    go.set();
    s.run();
}

TEST(trace_context, OBS_173_a_job_finds_the_trace_it_belongs_to) {
    runtime rt(runtime_options().workers(1));
    std::string found;
    block_on(rt, with_trace(&found));
    EXPECT_EQ(found, "0af7651916cd43dd8448eb211c80319c");
    block_on(rt, request(&found));
    EXPECT_EQ(found, "none");
}

}  // namespace
