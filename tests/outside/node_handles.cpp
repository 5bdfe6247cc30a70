// Handles of the tree, the switches of a program, and a blocking call whose task is cancelled: what a program outside of tasks sees.
#include <roost/observe/hooks.hpp>
#include <roost/roost.hpp>

#include <atomic>
#include <cstdio>
#include <string>

using namespace roost;
using namespace std::chrono_literals;

namespace {

int failures = 0;
void expect(bool holds, const char* what) {
    if (!holds) {
        ++failures;
        std::printf("FAILED: %s\n", what);
    }
}

task<> waits(event& e) { co_await e.wait(); }
task<int> never(event& e) {
    co_await e.wait();
    co_return 1;
}
task<int> cancels_itself(event& e) {
    const job me = co_await this_job();
    me.cancel(reason(reason_kind::requested, "enough"));
    co_return co_await never(e);
}

std::atomic<int> records{0};

}  // namespace

int main() {
    const bool counted = observe::set_job_counting(true);
    expect(!counted, "the previous value of a switch");
    const observe::shutdown_log_sink before = observe::set_shutdown_log(
        observe::shutdown_log_sink([](void*, const observe::shutdown_record&) noexcept { ++records; }, nullptr));

    runtime rt(runtime_options().workers(2));
    event e("a price");
    {
        roost::shutdown server("server");
        const roost::shutdown connection = server.child("connection");
        owned_scope requests(connection.tree_node(), rt, "requests");
        const job j = requests.launch("request", waits(e));

        const node at = connection.tree_node();
        expect(at.name() == "connection" && at.parent() == server.tree_node(), "name and parent");
        expect(std::string(at.site().file()).find("node_handles") != std::string::npos, "the site is in this file");
        expect(at.level() == level::running && !at.stop_requested(), "its level");
        expect(at.work() >= 1, "its work");
        expect(observe::dump(at).find("job 'request'") != std::string::npos, "its tree as text");
        expect(node().parent() == node() && observe::dump(node()).empty(), "a handle that refers to nothing");

        at.cancel(reason(reason_kind::requested, "the peer is gone"));
        expect(j.is_cancelled() && j.cancel_requested(), "a cancel reaches the job before it returns");
        expect(at.reason().text() == "the peer is gone", "the reason");
        requests.close_blocking();
        expect(j.state() == job_state::cancelled, "the job ended cancelled");
    }
    try {
        block_on(rt, cancels_itself(e));
        expect(false, "a cancelled task has no value");
    } catch (const task_cancelled& c) {
        expect(c.kind() == errc::cancelled && c.why().text() == "enough", "the reason of the cancelled task");
    }
    expect(records > 0, "records of shutdown nodes");
    observe::set_shutdown_log(before);
    expect(observe::set_job_counting(counted), "jobs were counted");
    expect(format_duration(1250ms) == "1.25 s", "a duration as text");
    rt.shut_down();
    if (failures == 0) {
        std::printf("all as expected\n");
    }
    return failures;
}
