#include <roost/observe/chrome_trace.hpp>

#include <roost/observe/recorder.hpp>
#include <roost/pool/pool.hpp>
#include <roost/runtime/run.hpp>
#include <roost/task/sleep.hpp>

#include "recorded_jobs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

using namespace roost;
using namespace roost::observe;
using namespace std::chrono_literals;
using namespace testing_support;

namespace {

class chrome_trace : public ::testing::Test {
protected:
    void TearDown() override { recorder::stop(); }
};

// Python's parser reads the text, and the structure is checked: slices of a track nest, each arrow has both ends, each
// asynchronous end has a beginning. Returns what it says about it.
std::string check_with_python(const std::string& json) {
    const std::string path = temporary_path("trace.json");
    std::ofstream(path, std::ios::binary) << json;
    const std::string script = temporary_path("check.py");
    std::ofstream(script) << R"(
import collections, json, sys
trace = json.load(open(sys.argv[1], encoding="utf-8", errors="strict"))
events = trace["traceEvents"]
assert isinstance(trace["otherData"], dict)
count = collections.Counter(e["ph"] for e in events)
open_async, arrows, tracks = set(), {}, collections.defaultdict(list)
for e in events:
    assert isinstance(e["pid"], int) and isinstance(e["tid"], int), e
    if e["ph"] != "M":
        assert e["ts"] >= 0 and isinstance(e["name"], str) and e["name"], e
    if e["ph"] == "X":
        assert e["dur"] >= 0, e
        tracks[e["tid"]].append((round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000)))
    elif e["ph"] == "b":
        assert (e["cat"], e["id"]) not in open_async, e
        open_async.add((e["cat"], e["id"]))
    elif e["ph"] == "e":
        open_async.remove((e["cat"], e["id"]))
    elif e["ph"] == "n":
        assert (e["cat"], e["id"]) in open_async, e
    elif e["ph"] == "s":
        arrows[e["id"]] = e["ts"]
    elif e["ph"] == "f":
        assert e["bp"] == "e" and arrows.pop(e["id"]) <= e["ts"], e
    else:
        assert e["ph"] in "Mi", e
assert not arrows, arrows
for slices in tracks.values():
    stack = []
    for begin, end in sorted(slices, key=lambda s: (s[0], -s[1])):
        while stack and stack[-1] <= begin:
            stack.pop()
        assert not stack or end <= stack[-1], (begin, end, stack)
        stack.append(end)
print("ok", " ".join(f"{k}={count[k]}" for k in "MXbefsin"), "open", len(open_async))
)";
    FILE* const out = ::popen(("python3 " + script + " " + path + " 2>&1").c_str(), "r");
    std::string said;
    char bytes[512];
    while (std::fgets(bytes, sizeof bytes, out) != nullptr) {
        said += bytes;
    }
    ::pclose(out);
    ::unlink(path.c_str());
    ::unlink(script.c_str());
    return said;
}

task<> use(pool<int>& numbers) {
    auto held = (co_await numbers.acquire("user")).value();
    co_await sleep_for(std::chrono::milliseconds(2));
}
task<> everything(scope& s, pool<int>& numbers, event& e) {
    s.launch(std::string_view("a \"quote\",\n\x01 \xff\xfe \xf0\x9f\x90\x94"), wait_for(e));
    s.launch("first", use(numbers));
    s.launch("second", use(numbers));
    event never("never");
    job stuck = s.launch("stuck", wait_for(never));
    co_await sleep_for(std::chrono::milliseconds(1));
    e.set();
    stuck.cancel();
    co_await stuck.join();
}

task<> spin_and_look(std::string& trace) {
    co_await sleep_for(1ms);
    const time_point until = now() + 20ms;
    while (now() < until) {}
    trace = to_chrome_trace(recorder::snapshot());
}

TEST_F(chrome_trace, OBS_190_a_body_that_still_runs_has_run_until_the_end) {
    recorder::start();
    std::string trace;
    run(spin_and_look(trace));
    double longest = 0;
    const std::string key = "\"dur\":";
    for (std::size_t at = trace.find(key); at != std::string::npos; at = trace.find(key, at + 1)) {
        if (trace.find("the recording ends", at) < trace.find('\n', at)) {
            longest = std::max(longest, std::stod(trace.substr(at + key.size())));
        }
    }
    EXPECT_GE(longest, 19'000) << "microseconds";
}

TEST_F(chrome_trace, OBS_190_is_read_by_another_parser_and_is_whole) {
    recorder::start();
    {
        event e("door");
        pool<int> numbers(pool_options(1, "numbers"), [] { return 7; });
        runtime threads(runtime_options().workers(2));
        block_on(threads, with_scope(everything, std::ref(numbers), std::ref(e)));
    }
    recorder::stop();
    const std::string json = to_chrome_trace(recorder::snapshot());
    const std::string said = check_with_python(json);
    EXPECT_EQ(said.substr(0, 3), "ok ") << said << json.substr(0, 4000);
    EXPECT_NE(said.find("open 0"), std::string::npos) << said;
    for (const char* part :
         {"\"name\":\"first\"", "\"waits on\":\"pool\"", "\"name\":\"numbers\"", "\"outcome\":\"cancelled\"",
          "\"name\":\"cancels 'stuck'\"", "\"name\":\"raises 'stuck'\"", "\"to\":\"cancel\"", "\"ph\":\"s\"", "\"ph\":\"f\"",
          "\"name\":\"parked\"", "waits for pool 'numbers'"}) {
        EXPECT_NE(json.find(part), std::string::npos) << part;
    }
    EXPECT_NE(json.find("a \\\"quote\\\",\\u000a\\u0001 \\ufffd\\ufffd \xf0\x9f\x90\x94"), std::string::npos);
}

TEST_F(chrome_trace, OBS_190_what_was_lost_leaves_it_whole) {
    recorder::start(recorder_options().records(64));
    run_jobs(500);
    const recording r = recorder::snapshot();
    ASSERT_GT(r.lost(), 0U);
    const std::string json = to_chrome_trace(r);
    const std::string said = check_with_python(json);
    EXPECT_EQ(said.substr(0, 3), "ok ") << said << json.substr(0, 4000);
    EXPECT_NE(json.find("\"lost\":\"" + std::to_string(r.lost()) + "\""), std::string::npos);
}

TEST_F(chrome_trace, OBS_190_an_empty_recording_is_an_empty_trace) {
    const std::string said = check_with_python(to_chrome_trace(recording()));
    EXPECT_EQ(said.substr(0, 3), "ok ") << said;
}

}  // namespace
