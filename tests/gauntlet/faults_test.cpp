// Long because it is one table over the whole public API.
// Scenario 13: the Nth allocation fails, and the Nth call of user code throws, for N = 0, 1, 2, ... until nothing is left to
// fail, in every public function that can. Afterwards the same works, and nothing has leaked; that an object goes on working
// after its fault is for kept_faults_test. Each run is on a thread of its own, whose cache of frames is empty. Those without a row, and why:
//
// not tried: abandon::abandon, finish::finish, interrupted_or::interrupted_or: only keep what they are given
// not tried: guarded::begin, guarded::end, guarded::size, guarded::size_hint, guarded::into_inner, guarded::guarded: only pass on to the thing inside
// not tried: interrupt::begin, interrupt::end, interrupt::fill_buffer, interrupt::guarded, interrupt::interrupt, interrupt::into_inner: only pass on to the thing inside
// not tried: interrupt::next, interrupt::on, interrupt::read_some, interrupt::size_hint, interrupt::write_some: only pass on to the thing inside
// not tried: all_failed::all_failed, child_failure::child_failure, pool_error::pool_error, pool_options::pool_options: values made of strings and vectors
// not tried: report_entry::report_entry, report_entry::add, report_entry::add_at_least, shutdown_report::shutdown_report, shutdown_record::to_string: values made of strings and vectors
// not tried: broadcast_item::broadcast_item, selected::selected, selected::get, winner::value, supervised::value: move what they are given
// not tried: barrier::name_: a member, not a function
// not tried: owned_scope::close_blocking, closing_executor::close_blocking: blocks the thread that would have to run the children; otherwise close()
// not tried: promise::set_error: keeps the pointer it is given
// not tried: node::node, with_scope::start, with_scope::with_scope: reached through everything that makes nodes and scopes
// not tried: inline_callback, inline_callback::inline_callback, condition::wait_blocking: allocate nothing; move what they are given
// not tried: loop::loop, blocking_lane::blocking_lane, blocking_lane::running, lane_entry::lane_entry, lane_entry::to_string, runtime::shut_down, run, run_until_signal, blocking, blocking_on: threads; see thread_failure_test
// not tried: cpu_quota, format_duration, format_age: text for people; an exception leaves nothing behind
// not tried: on_failure::decide: calls the user's function in its row of on_failure

#include <roost/base/failure_sink.hpp>
#include <roost/exec/serial_executor.hpp>
#include <roost/flow/closing_executor.hpp>
#include <roost/flow/coalescer.hpp>
#include <roost/flow/map_concurrent.hpp>
#include <roost/flow/race.hpp>
#include <roost/flow/retry.hpp>
#include <roost/flow/select.hpp>
#include <roost/flow/supervise.hpp>
#include <roost/flow/when_all.hpp>
#include <roost/observe/job_events.hpp>
#include <roost/pool/pool.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/runtime/signal_watch.hpp>
#include <roost/shutdown/shutdown.hpp>
#include <roost/sync/broadcast.hpp>
#include <roost/sync/channel.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/interruptible.hpp>
#include <roost/sync/once.hpp>
#include <roost/sync/watch.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/as_task.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/driven.hpp>
#include <roost/task/launch_started.hpp>
#include <roost/task/on_exit.hpp>
#include <roost/task/others_of.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/promise.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/shared_deferred.hpp>
#include <roost/task/shield.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/timeout.hpp>
#include <roost/task/until_stop.hpp>
#include <roost/task/with_note.hpp>
#include <roost/testing/manual_executor.hpp>
#include <roost/tree/callback.hpp>
#include <roost/tree/external_resource.hpp>
#include <roost/tree/stop_token.hpp>
#include <roost/tree/visit.hpp>

#include "../sync/coroutines.hpp"
#include "../task/rig.hpp"
#include "../tree/tree_support.hpp"
#include "fault_rows.hpp"
#include "quiet.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include <atomic>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace roost;
using namespace roost::observe;
using namespace roost::ext;
using gauntlet::allocations_left;
using gauntlet::and_close;
using gauntlet::and_join;
using gauntlet::leaf;
using gauntlet::play;
using gauntlet::user;
const std::string long_name(100, 'n');

task<> body() { static_cast<void>(co_await leaf(0)); }

task<> children(scope& s) {
    auto a = s.async(std::string(long_name), leaf(1));
    s.launch("b", leaf(2));
    static_cast<void>(co_await std::move(a));
    user();
}
task<> in_scope() { co_await with_scope(children); }
task<> limited(scope& s) {
    co_await s.room();
    s.launch("a", leaf(1));
    auto b = s.async("b", leaf(2));
    static_cast<void>(co_await std::move(b));
}
task<> in_limited() { co_await with_scope(scope_options("limited scope").at_most(1), limited); }
task<> serving(scope& s) {
    s.daemon("service", leaf(1));
    s.launch("a", leaf(2));
    auto b = s.async("b", leaf(3));
    static_cast<void>(co_await std::move(b));
}
task<> in_services() { co_await with_scope(serving); }
task<> in_collect() { co_await with_scope(scope_options("collect").keep_going(), children); }
task<> supervised_body(supervisor& s) {
    s.launch("a", body);
    user();
    co_return;
}
task<> in_supervise() {
    auto ended = co_await supervise(on_failure::ask([](const child_failure&) {
                                        user();
                                        return on_failure::escalate();
                                    }),
                                    supervised_body);
    static_cast<void>(ended);
}
task<> in_when_all() {
    static_cast<void>(co_await when_all(leaf(1), leaf(2)));
    static_cast<void>(co_await when_all_settled(leaf(1), leaf(2)));
    task<std::tuple<int, int>> later = when_all(leaf(1), leaf(2));
    static_cast<void>(co_await std::move(later));
}
task<> in_race() {
    static_cast<void>(co_await race(leaf(1), leaf(2)));
    static_cast<void>(co_await first_success(leaf(1), leaf(2)));
}
task<> in_until_stop() { static_cast<void>(co_await until_stop(co_await this_token(), leaf(1))); }
task<> in_retry() {
    static_cast<void>(co_await retry(backoff(std::chrono::nanoseconds(0)), 2, leaf, 1));
    static_cast<void>(co_await retry_if([](const std::exception_ptr&) { return false; },
                                        backoff(std::chrono::nanoseconds(0)), 2, leaf, 1));
}
task<int> leaf_fails() {
    throw std::domain_error("every attempt");
    co_return 0;
}
task<> in_others() {
    try {
        static_cast<void>(co_await retry(backoff(std::chrono::nanoseconds(0)), 2, leaf_fails));
    } catch (const std::domain_error&) {
        static_cast<void>(others_of(std::current_exception()));
    }
    user();
}
task<> in_as_task() { static_cast<void>(co_await as_task(fail_after(std::chrono::seconds(1), leaf(1)))); }
task<int> scoped_leaf(scope&, int n) { return leaf(n); }
task<> in_shielded_scope() { static_cast<void>(co_await shield(std::chrono::seconds(1), with_scope(scoped_leaf, 1))); }
task<> ready_leaf(started<int> ready) { ready(co_await leaf(1)); }
task<> start_leaf(scope& s) { static_cast<void>(co_await launch_started<int>(s, "leaf", ready_leaf)); }
task<> in_started() { co_await with_scope(start_leaf); }
void on_serial() {
    rig::manual below;
    const serial_executor serial(below, "a name that is too long to be kept in place");
}
task<> in_map() {
    const std::vector<int> all{1, 2, 3};
    static_cast<void>(co_await map_concurrent(all, 2, leaf));
}
task<> in_exit() {
    co_await on_exit(body);
    static_cast<void>(co_await with_note(std::string(long_name), leaf(1)));
}
task<> in_outcome() {
    auto ended = co_await as_outcome(leaf(1));
    static_cast<void>(ended);
    user();
}
task<> bridged(scope& s) {
    auto made = make_promise<int>(s, long_name, external_cancel::abandon);
    made.second.set_value(4);
    static_cast<void>(co_await std::move(made.first));
    auto failing = make_promise<int>(s, "failing", external_cancel::uninterruptible);
    failing.second.set_cancelled();
    static_cast<void>(co_await as_outcome(std::move(failing.first)));
    auto wrong = make_promise<int>(s, "wrong", external_cancel::uninterruptible);
    wrong.second.set_value(1);
    static_cast<void>(co_await std::move(wrong.first));
}
task<> in_bridge() { co_await with_scope(bridged); }
task<> sharing(scope& s) {
    const shared_deferred<int> shared(s.async("shared", leaf(1)));
    static_cast<void>(co_await shared);
    coalescer<int, int> c(s);
    static_cast<void>(co_await c.coalesce(1, leaf));
    static_cast<void>(c.size());
}
task<> in_sharing() { co_await with_scope(sharing); }
task<> in_select() {
    event e("e", true);
    const auto got = co_await select(e.wait());
    static_cast<void>(got.index());
    user();
}

void owned_scopes() {
    rig::manual where;
    owned_scope o(where, std::string(long_name));
    const auto act = [&] {
        o.launch("a", leaf(1));
        static_cast<void>(o.to_string());
    };
    and_close(where, act, [&] { return o.close(); });
}
task<> guest(closing_executor& own) { static_cast<void>(co_await on(own, leaf(1))); }
void closing_executors() {
    rig::manual where;
    closing_executor own(where, std::string(long_name));
    const auto act = [&] {
        own.launch("a", guest(own));
        own.async("b", leaf(1)).keep();
    };
    and_close(where, act, [&] { return own.close(); });
}
void shutdowns() {
    const shutdown root{std::string(long_name)};
    const shutdown child = root.child(std::string(long_name));
    auto busy = child.guarded(std::string("x"));
    event never;
    auto wait = child.interrupt(never.wait());
    static_cast<void>(root.report().to_string());
    user();
}
void pools() {
    const auto create = [] {
        user();
        return 1;
    };
    pool_options o(2, "pool");
    o.on_error = [](const pool_error&) {};
    pool<int> p(o, create, [](int&) { user(); });
    {
        auto a = p.acquire_blocking();
        if (a.error()) {
            std::rethrow_exception(a.error());
        }
        pooled<int> b = p.try_acquire_or_create().value();
        for (const pool_holder& h : p.holders()) {
            static_cast<void>(h.to_string());
        }
    }
    static_cast<void>(p.try_acquire());
    static_cast<void>(p.try_with([](int&) { user(); }));
}
task<> pool_with() {
    pool<int> p(pool_options(1, "pool"), [] { return 1; });
    co_await p.with([](int&) { user(); });
}
void callbacks() {
    const auto root = tree_support::make_root(std::string(long_name));
    roost::testing::manual_executor where;
    const callback cb(token(*root), level::cancel, where, [] {});
    external_resource op = external_resource::open(*root, std::string(long_name), [] {});
    const linked_stop_source source(token(*root), level::cancel, where);
    std::stop_source outside;
    const stop_token_link link(outside.get_token(), *root);
    static_cast<void>(tree_to_string(*root));
    user();
}
// Each send finds the buffer full, so that it has to ask for memory: the second, and what 16 do not hold.
task<> sends() {
    std::stop_source source;
    const std::stop_token token = source.get_token();
    std::string value = long_name;
    for (int form = 0; form < 4; ++form) {
        channel<std::string> c(channel<std::string>::unbounded, "c");
        for (int i = 0; i < 17; ++i) {
            value.assign(long_name);
            sent<std::string> how(wait_status::would_wait);
            switch (form) {
                case 0: how = co_await c.send(value); break;
                case 1: how = co_await c.send_from(value); break;
                case 2: how = co_await with_stop(c.send(value), token); break;
                default: how = co_await with_stop(c.send_from(value), token); break;
            }
            if (!how) {
                throw std::logic_error("an unbounded channel refused a value");
            }
        }
    }
}
// Values that were given to receivers which are dropped before they run come back, and that asks for no memory.
sync_testing::hosted takes(sync_testing::hand_executor&, channel<std::string>& c, std::exception_ptr& failed) {
    try {
        static_cast<void>(co_await c.receive());
    } catch (...) {
        failed = std::current_exception();
    }
}
class forgetting {
public:
    explicit forgetting(sync_testing::hand_executor& of) noexcept : of_(&of) {}
    forgetting(const forgetting&) = delete;
    forgetting& operator=(const forgetting&) = delete;
    ~forgetting() { of_->forget(); }

private:
    sync_testing::hand_executor* of_;
};
void receives() {
    channel<std::string> c(0, "c");
    sync_testing::hand_executor where;
    std::exception_ptr failed;
    const std::string value(long_name);
    {
        sync_testing::hosted never_run[5];
        const forgetting before_they_go(where);  // also when memory fails on the way
        int sent = 0;
        for (auto& r : never_run) {
            r = takes(where, c, failed);
            if (!failed) {
                std::string mine(value);
                sent += c.try_send(std::move(mine)) ? 1 : 0;
            }
        }
        const long left = allocations_left;
        for (auto& r : never_run) {
            where.forget();  // what one gives back may wake the next
            r.destroy();
        }
        EXPECT_EQ(allocations_left, left) << "giving values back asked for memory";
        EXPECT_EQ(c.size(), static_cast<std::size_t>(sent)) << "a value was lost";
    }
    gauntlet::rethrow(failed);
}
void channels() {
    channel<std::string> c(channel<std::string>::unbounded, "c");
    static_cast<void>(c.send_blocking(std::string(long_name)));
    static_cast<void>(c.try_send(std::string(long_name)));
    broadcast<std::string> b(2, "b");
    auto mine = b.subscribe();
    b.send(std::string(long_name));
    b.send(std::string(long_name));
    static_cast<void>(mine.try_receive());
    static_cast<void>(mine.receive_blocking());
    watch<std::string> w(long_name, "w");
    w.set(std::string(long_name));
    w.modify([](std::string& text) {
        user();
        text += 'x';
    });
    static_cast<void>(w.get());
    once o("o");
    o.call_blocking([] { user(); });
}
void watches_signals() {
    signal_watch both(SIGUSR2, SIGHUP);
    user();
    static_cast<void>(signal_received(SIGUSR2));
    static_cast<void>(both.try_receive());
}
void blocks() {
    rig::manual where;
    owned_scope root(where, scope_options(std::string(long_name)).report_failures());
    and_join(where, root, [&] {
        const job j = root.launch("driven", in_outcome());
        where.run();
        static_cast<void>(j.others());
        static_cast<void>(j.notes());
        return j.error();
    });
}
void blocked_on() {
    runtime rt(runtime_options().workers(1));
    static_cast<void>(block_on(rt, leaf(1)));
    static_cast<void>(block_on_outcome(rt, leaf(1)));
}
task<> drives() {
    const executor_ref here = detail::task_access::core_of(co_await this_job())->executor();
    static_cast<void>(co_await awaitable_on(leaf(1), here));
}
class watches final : public job_observer {
public:
    void on_event(const job_event&) noexcept override {}
};
void observes() {
    watches w;
    const observation on(w);
    play(body());
}

const gauntlet::fault_row table[] = {
    // also scope::launch, scope::async
    {"with_scope", [] { play(in_scope()); }},
    // also scope::launch, scope::async and scope::room with a limit
    {"with_scope, at_most", [] { play(in_limited()); }},
    // also scope::launch, scope::async, scope::serve
    {"scope::daemon", [] { play(in_services()); }},
    {"with_scope, keep_going", [] { play(in_collect()); }},
    // also supervisor::launch, on_failure::ask
    {"supervise", [] { play(in_supervise()); }},
    // also when_all_settled, task::task
    {"when_all", [] { play(in_when_all()); }},
    // also first_success
    {"race", [] { play(in_race()); }},
    {"until_stop", [] { play(in_until_stop()); }},
    // also retry_if
    {"retry", [] { play(in_retry()); }},
    {"others_of", [] { play(in_others()); }},
    {"map_concurrent", [] { play(in_map()); }},
    {"as_task", [] { play(in_as_task()); }},
    {"shield", [] { play(in_shielded_scope()); }},
    {"launch_started", [] { play(in_started()); }},
    {"serial_executor::serial_executor", [] { on_serial(); }},
    // also trace
    {"on_exit", [] { play(in_exit()); }},
    {"as_outcome", [] { play(in_outcome()); }},
    // also promise::set_value, promise::set_cancelled
    {"bridge", [] { play(in_bridge()); }},
    // also coalescer::coalescer, coalescer::coalesce, coalescer::size
    {"shared_deferred::shared_deferred", [] { play(in_sharing()); }},
    {"select", [] { play(in_select()); }},
    // also owned_scope::close, owned_scope::to_string
    {"owned_scope::owned_scope", owned_scopes},
    // also closing_executor::launch, closing_executor::async, closing_executor::close, on
    {"closing_executor::closing_executor", closing_executors},
    // also job::others, job::notes
    {"owned_scope::owned_scope", blocks},
    // also signal_received
    {"signal_watch::signal_watch", watches_signals},
    // also block_on_outcome, runtime::runtime
    {"block_on", blocked_on},
    {"awaitable_on", [] { play(drives()); }},
    {"observation::observation", observes},
    // also shutdown::child, shutdown::guarded, shutdown::interrupt, shutdown::report, shutdown_report::to_string
    // also report_entry::to_string
    {"shutdown::shutdown", shutdowns},
    // also pool::acquire_blocking, pool::try_acquire, pool::try_acquire_or_create, pool::try_with, pool::holders
    // also pool_holder::to_string, acquired::value
    {"pool::pool", pools},
    {"pool::with", [] { play(pool_with()); }},
    // also external_resource::open, linked_stop_source::linked_stop_source, stop_token_link::stop_token_link
    // also tree_to_string
    {"callback::callback", callbacks},
    // also channel::send_from
    {"channel::send", [] { play(sends()); }},
    // also channel::send_blocking, channel::try_send, broadcast::broadcast
    // also broadcast::try_receive, broadcast::receive_blocking, watch::watch, watch::set, watch::modify, watch::get
    // also once::call_blocking
    {"channel::channel",
     [] {
         channels();
         receives();
     }},
};

TEST(gauntlet_faults, GAUNTLET_13_the_nth_allocation_and_the_nth_call_fail_in_every_public_function) {
    const gauntlet::quiet q("scenario 13");
    const auto before = set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {});
    const long faults = gauntlet::try_rows(table);
    set_failure_sink(before);
    q.say("%zu rows, %ld faults, none leaked, the same worked afterwards", std::size(table), faults);
}

}  // namespace
