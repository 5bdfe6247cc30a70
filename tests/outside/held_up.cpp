// What holds a drain up is named when it is no guard and no job: a lease. And a cancelled owned scope ends its daemons.
#include <roost/roost.hpp>

#include <unistd.h>
#include <chrono>
#include <cstdio>
#include <string>

namespace {

using namespace std::chrono_literals;

constexpr roost::job_local<int> retries;

roost::task<> wait_for(roost::event& e) { co_await e.wait(); }
roost::task<> lease_out(roost::scope& s, roost::ext::lease& out) {
    out = s.lease();
    co_return;
}
roost::task<> handler(roost::ext::lease& out) {
    co_await roost::with_value(retries, 3, roost::with_scope(lease_out, std::ref(out)));
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

int leases_are_named(roost::runtime& rt) {
    const roost::shutdown server("server");
    roost::owned_scope jobs(server.tree_node(), rt, "jobs");
    roost::ext::lease held;
    const roost::job j = jobs.launch("handler", handler(held));
    for (int i = 0; i < 3000 && !has(server.report().to_string(), "waits on lease"); ++i) {
        std::this_thread::sleep_for(10ms);
    }
    auto done = server.shut_down();
    int wrong = 0;
    if (done.wait_blocking(20ms) || !has(server.report().to_string(), "held_up.cpp:")) {
        std::printf("the report does not name the job that a lease holds:\n%s\n", server.report().to_string().c_str());
        ++wrong;
    }
    if (server.guard_count() != 1) {
        std::printf("guard_count() is %zu\n", server.guard_count());
        ++wrong;
    }
    held.give_back();
    if (!done.wait_blocking(20s) || server.guard_count() != 0) {
        std::printf("the drain does not end after the lease\n");
        ++wrong;
    }
    jobs.close_blocking();
    return wrong;
}

int daemons_end(roost::runtime& rt) {
    roost::event never("never");
    roost::owned_scope feeds(rt, "feeds");
    const roost::job daemon = feeds.daemon("heartbeat", wait_for(never));
    if (!has(feeds.to_string(), "'heartbeat'")) {
        std::printf("the text of the scope does not show its daemon:\n%s\n", feeds.to_string().c_str());
        return 1;
    }
    feeds.cancel();
    for (int i = 0; i < 3000 && !daemon.is_finished(); ++i) {
        std::this_thread::sleep_for(10ms);
    }
    const bool is_cancelled = daemon.state() == roost::job_state::cancelled;
    if (!is_cancelled) {
        std::printf("the daemon of a cancelled owned scope runs on\n");
    }
    feeds.close_blocking();
    return is_cancelled ? 0 : 1;
}

}  // namespace

int main() {
    alarm(60);
    roost::runtime rt(roost::runtime_options().workers(1));
    return leases_are_named(rt) + daemons_end(rt);
}
