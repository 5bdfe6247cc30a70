// Scenario 13 for the other overloads of what faults_test.cpp tries, and for what lies below tasks.

#include <roost/base/error.hpp>
#include <roost/base/failure_sink.hpp>
#include <roost/base/outcome.hpp>
#include <roost/base/reason.hpp>
#include <roost/exec/detail/activity.hpp>
#include <roost/flow/race.hpp>
#include <roost/flow/select.hpp>
#include <roost/flow/when_all.hpp>
#include <roost/pool/pool.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/once.hpp>
#include <roost/sync/watch.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/job_local.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/promise.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/this_task.hpp>
#include <roost/tree/visit.hpp>

#if defined(ROOST_TEST_SERVICE)
#include <roost/service/budgets.hpp>
#include <roost/service/ledger.hpp>
#endif

#include "../task/rig.hpp"
#include "../tree/tree_support.hpp"
#include "fault_rows.hpp"
#include "quiet.hpp"

#include <any>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace roost;
using namespace roost::observe;
using namespace roost::seam;
using gauntlet::and_close;
using gauntlet::and_join;
using gauntlet::leaf;
using gauntlet::play;
using gauntlet::user;

const std::string long_name(100, 'n');

std::vector<task<int>> leaves() {
    std::vector<task<int>> all;
    all.push_back(leaf(1));
    all.push_back(leaf(2));
    all.push_back(leaf(3));
    return all;
}

task<> all_of_several() {
    static_cast<void>(co_await when_all(leaf(1), leaf(2), leaf(3)));
    static_cast<void>(co_await when_all(leaf(1), leaf(2), leaf(3), leaf(4)));
    static_cast<void>(co_await when_all(leaf(1), leaf(2), leaf(3), leaf(4), leaf(5)));
    static_cast<void>(co_await when_all(leaves()));
}
task<> all_settled() {
    static_cast<void>(co_await when_all_settled(leaf(1), leaf(2), leaf(3)));
    static_cast<void>(co_await when_all_settled(leaf(1), leaf(2), leaf(3), leaf(4)));
    static_cast<void>(co_await when_all_settled(leaf(1), leaf(2), leaf(3), leaf(4), leaf(5)));
    static_cast<void>(co_await when_all_settled(leaves()));
}
task<> races() {
    static_cast<void>(co_await race(leaf(1), leaf(2), leaf(3)));
    static_cast<void>(co_await race(leaf(1), leaf(2), leaf(3), leaf(4)));
    static_cast<void>(co_await race(leaf(1), leaf(2), leaf(3), leaf(4), leaf(5)));
    static_cast<void>(co_await race(leaves()));
}
task<> successes() {
    static_cast<void>(co_await first_success(leaf(1), leaf(2), leaf(3)));
    static_cast<void>(co_await first_success(leaf(1), leaf(2), leaf(3), leaf(4)));
    static_cast<void>(co_await first_success(leaf(1), leaf(2), leaf(3), leaf(4), leaf(5)));
    static_cast<void>(co_await first_success(leaves()));
}
// A hook whose copies and moves may throw.
class hook {
public:
    hook() = default;
    hook(const hook&) { user(); }
    hook(hook&&) { user(); }  // NOLINT: may throw on purpose
    void operator()() const noexcept {}
};
task<> hooked(scope& s) {
    hook mine;
    auto made = make_promise<int>(s, long_name, mine);
    made.second.set_value(4);
    static_cast<void>(co_await std::move(made.first));
}
task<> bridges() { co_await with_scope(hooked); }
constexpr job_local<hook> hook_here;
task<> values() { static_cast<void>(co_await with_value(hook_here, hook(), leaf(1))); }
void initialises() {
    once o("o");
    o.call_blocking([] { user(); });
    once in_time("in time");
    static_cast<void>(in_time.call_blocking([] { user(); }, no_deadline));
}
task<> selects() {
    event e("e", true);
    const auto got = co_await select(fair, e.wait());
    static_cast<void>(got.index());
    user();
}

void owned_below_a_node() {
    rig::manual where;
    const auto up = tree_support::make_root(std::string(long_name));
    owned_scope o(*up, where, std::string(long_name));
    and_close(where, [&] { o.launch("a", leaf(1)); }, [&] { return o.close(); });
}
void root_below_a_node() {
    rig::manual where;
    const auto up = tree_support::make_root(std::string(long_name));
    owned_scope root(*up, where, scope_options(std::string(long_name)).report_failures());
    and_join(where, root, [&] {
        const job j = root.launch("a", leaf(1));
        where.run();
        return j.error();
    });
}
void named_loans() {
    pool_options o(2, "pool");
    o.on_error = [](const pool_error&) {};
    pool<int> p(
        o,
        [] {
            user();
            return 1;
        },
        [](int&) { user(); });
    {
        auto a = p.acquire_blocking("who");
        if (a.error()) {
            std::rethrow_exception(a.error());
        }
        pooled<int> b = p.try_acquire_or_create("who").value();
    }
    static_cast<void>(p.try_acquire("who"));
    static_cast<void>(p.try_with("who", [](int&) { user(); }));
}
task<> named_with() {
    pool<int> p(pool_options(1, "pool"), [] { return 1; });
    co_await p.with("who", [](int&) { user(); });
}
void observed() {
    watch<std::string> w(long_name, "w");
    auto mine = w.observe();
    w.set(std::string(long_name));
    static_cast<void>(mine.get());
    if (mine.has_changed()) {
        throw std::logic_error("what was got has been seen");
    }
    user();
}
void visits() {
    const auto root = tree_support::make_root(std::string(long_name));
    const visit_result all = visit(*root, 10, [](const node_description&) { user(); });
    if (all.visited != 1) {
        throw std::logic_error("one node");
    }
}
// A look that throws lets go of what it looked at: the scope can end.
void looks() {
    const detail::activity_label label("busy", site());
    const detail::running_as now(label);
    detail::activity& mine = detail::activity::of_this_thread();
    static_cast<void>(mine.look([](const detail::activity_label&) { user(); }));
}

void reasons() {
    const reason plain(reason_kind::requested, long_name);
    const reason loaded(reason_kind::requested, long_name, std::any(long_name));
    static_cast<void>(detail::base_access::at_origin(plain, long_name).to_string());
    static_cast<void>(detail::base_access::at_origin(loaded, long_name).to_string());
    user();
}
void outcomes() {
    outcome<std::string> fine(std::in_place, long_name);
    static_cast<void>(fine.value().size());
    static_cast<void>(std::as_const(fine).value().size());
    outcome<std::string> other(std::in_place, long_name);
    static_cast<void>(std::move(other).value());
    static_cast<void>(std::move(fine).value_or_throw());
    outcome<std::string> failed(std::make_exception_ptr(1));
    failed.add_other(std::make_exception_ptr(2));
    user();
}
void texts() {
    static_cast<void>(error(errc::closed, long_name).what());
    static_cast<void>(timed_out(long_name).what());
    static_cast<void>(describe(std::make_exception_ptr(std::runtime_error(long_name))));
    static_cast<void>(site(std::source_location::current()).to_string());
    user();
}

const gauntlet::fault_row table[] = {
    {"when_all", [] { play(all_of_several()); }},
    {"when_all_settled", [] { play(all_settled()); }},
    {"race", [] { play(races()); }},
    {"first_success", [] { play(successes()); }},
    {"bridge", [] { play(bridges()); }},
    {"with_value", [] { play(values()); }},
    {"once::call_blocking", initialises},
    {"select", [] { play(selects()); }},
    {"owned_scope::owned_scope", owned_below_a_node},
    {"owned_scope::owned_scope", root_below_a_node},
    // also pool::try_acquire, pool::try_acquire_or_create, pool::try_with
    {"pool::acquire_blocking", named_loans},
    {"pool::with", [] { play(named_with()); }},
    {"watch::get", observed},
    {"visit", visits},
    {"activity::look", looks},
    // also reason::at_origin, reason::to_string
    {"reason::reason", reasons},
    // also outcome::value, outcome::value_or_throw, outcome::add_other
    {"outcome::outcome", outcomes},
    // also error::error, timed_out::timed_out, site::to_string
    {"describe", texts},
};

TEST(gauntlet_faults, GAUNTLET_13_the_nth_fault_in_every_overload_and_below_tasks) {
    const gauntlet::quiet q("scenario 13");
    const auto before = set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {});
    const long faults = gauntlet::try_rows(table);
    set_failure_sink(before);
    q.say("%zu more rows, %ld faults, none leaked, the same worked afterwards", std::size(table), faults);
}

#if defined(ROOST_TEST_SERVICE)

void service_texts() {
    service::ledger books;
    books.accept().complete();
    static_cast<void>(books.read().to_string());
    const auto times = service::schedule_result::make(service::budgets());
    static_cast<void>(times.value().to_string());
    static_cast<void>(service::format_duration(std::chrono::milliseconds(1500)));
    service::budgets b;
    static_cast<void>(service::read_environment(b, long_name));
    user();
}

const gauntlet::fault_row service_table[] = {
    // also schedule::to_string, format_duration, read_environment, ledger_counts::to_string
    {"schedule_result::make", service_texts},
};

TEST(gauntlet_faults, GAUNTLET_13_the_nth_fault_in_what_a_service_says) {
    const gauntlet::quiet q("scenario 13");
    const long faults = gauntlet::try_rows(service_table);
    q.say("%zu rows of a service, %ld faults, none leaked", std::size(service_table), faults);
}

#endif

}  // namespace
