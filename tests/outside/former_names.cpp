// A program of the release before: the former names still compile, each with a warning that names the new one, and still work.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <roost/former_names.hpp>

#include <cstdio>

using namespace roost;

namespace {

task<int> one() { co_return 1; }

class inbox {
public:
    bool post(work& w) noexcept {
        queue_.push(w);
        return true;
    }

private:
    work_list queue_;
};

bool hooks_work() {
    inbox mine;
    executor_adapter<inbox> where(mine);
    const bool is_executor =
        can_post<inbox> && where.name() == "executor" && dump(shutdown("root").tree_node(), dump_options()) != "";

    const bool counted = count_jobs(false);
    set_shutdown_log(nullptr, nullptr);
    return is_executor && !counted && format_age(std::chrono::milliseconds(40)) == "40 ms";
}

task<int> all_of_them(scope& s) {
    auto [answer, promise] = bridge<int>(s, "answer", external_cancel::abandon);
    const int value = co_await trace("a note", one());
    promise.set_value(value);
    const int got = co_await std::move(answer);
    waiter_queue queue("queue");
    const bool waited = co_await queue.add_waiter_if([]() noexcept { return true; });
    const job me = co_await this_job();
    const bool early = s.observe().should_stop_now() || me.should_stop_now();
    const bool knows_site = reason(reason_kind::requested, "an example").where().is_known();
    shutdown server("server");
    const bool has_old_sites = me.made_at() == me.site() && server.guard().made_at().is_known();
    observe::node_description line;
    line.made_at = me.site();
    line.say_waits_on("mutex", "accounts");
    observe::shutdown_record record;
    record.made_at = line.site;
    const bool has_old_fields = record.site == me.site() && line.waits_on == "mutex 'accounts'" && queue.waiters_now() == 0;
    const bool has_old_names = has_old_sites && has_old_fields;
    co_return got == 1 && has_old_names && !waited && !early && knows_site && hooks_work() ? 0 : 1;
}
task<int> limited(limited_scope& s) {
    co_await s.room();
    co_return s.free_places() == 2 ? 0 : 1;
}
task<int> everything() {
    const int first = co_await with_scope(all_of_them);
    const int second = co_await with_limited_scope(2, limited);
    const int third = co_await collect(all_of_them);
    co_return first + second + third;
}

}  // namespace

int main() {
    const int wrong = run(everything());
    std::printf(wrong == 0 ? "all as expected\n" : "%d wrong\n", wrong);
    return wrong;
}
