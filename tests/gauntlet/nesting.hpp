#pragma once

// Everything that nests, as deep as one likes: a level is a frame with one more below it, in a job, a scope, a group, under a
// deadline, and so on. The innermost one waits; then it returns, or fails.

#include <roost/flow/coalescer.hpp>
#include <roost/flow/map_concurrent.hpp>
#include <roost/flow/race.hpp>
#include <roost/flow/retry.hpp>
#include <roost/flow/select.hpp>
#include <roost/flow/supervise.hpp>
#include <roost/flow/when_all.hpp>
#include <roost/shutdown/shutdown.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/collect.hpp>
#include <roost/task/generator.hpp>
#include <roost/task/ignore.hpp>
#include <roost/task/limited_scope.hpp>
#include <roost/task/on.hpp>
#include <roost/task/on_exit.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/shared_deferred.hpp>
#include <roost/task/shield.hpp>
#include <roost/task/timeout.hpp>
#include <roost/task/until_stop.hpp>

#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace nesting {

using namespace roost;

class bottom {
public:
    event wait;
    bool fails = false;
    bool reached = false;
    executor_ref executor;
    token stops;
};

using level_function = task<int> (*)(int left, bottom&);

inline task<int> innermost(bottom& b) {
    b.reached = true;
    co_await b.wait.wait();
    if (b.fails) {
        throw std::runtime_error("bottom");
    }
    co_return 0;
}
// What is below level `left`, in the same way.
template <level_function Level>
task<int> below(int left, bottom& b) {
    return left > 1 ? Level(left - 1, b) : innermost(b);
}

// Ends as the innermost one does, in the same moment.
inline task<int> beside(bottom& b) {
    co_await b.wait.wait();
    throw std::runtime_error("beside");
}
inline task<int> one() { co_return 1; }
inline task<> nothing() { co_return; }
template <level_function Level>
task<> drop_value(int left, bottom& b) {
    static_cast<void>(co_await below<Level>(left, b));
}

// --- frames ----------------------------------------------------------------------------------------------------------

inline task<int> frames(int left, bottom& b) { co_return co_await below<frames>(left, b); }
inline task<int> outcomes(int left, bottom& b) {
    auto ended = co_await as_outcome(below<outcomes>(left, b));
    co_return std::move(ended).value();
}
inline task<int> exits(int left, bottom& b) {
    co_await on_exit(nothing);
    co_return co_await below<exits>(left, b);
}
inline task<int> guards(int left, bottom& b) {
    const auto guard = co_await ignore_cancellation();
    co_return co_await below<guards>(left, b);
}
inline task<int> deadlines(int left, bottom& b) {
    co_return co_await fail_after(std::chrono::hours(1), below<deadlines>(left, b));
}
inline task<int> late(int left, bottom& b) {
    const auto got = co_await move_on_after(std::chrono::hours(1), below<late>(left, b));
    co_return got.value_or(-1);
}
inline task<int> shields(int left, bottom& b) { co_return co_await shield(duration::zero(), below<shields>(left, b)); }
inline task<int> interrupted(int left, bottom& b) {
    const auto got = co_await until_stop(b.stops, below<interrupted>(left, b));
    co_return got.value_or(-1);
}
inline task<int> retries(int left, bottom& b) {
    co_return co_await retry(backoff(duration::zero()), 1, below<retries>, left, std::ref(b));
}
inline generator<int> values(int left, bottom& b) {
    if (left > 1) {
        auto inner = values(left - 1, b);
        for (int* v = co_await inner.next(); v != nullptr; v = co_await inner.next()) {
            co_yield *v + 1;
        }
        co_return;
    }
    const int v = co_await below<frames>(1, b);
    co_yield v;
}
inline task<int> generators(int left, bottom& b) {
    auto all = values(left, b);
    int sum = 0;
    for (int* v = co_await all.next(); v != nullptr; v = co_await all.next()) {
        sum += *v;
    }
    co_return sum;
}

// --- scopes and jobs -------------------------------------------------------------------------------------------------

template <level_function Level>
task<int> in_scope(scope&, int left, bottom& b) {
    return below<Level>(left, b);
}
template <level_function Level>
task<int> in_job(scope& s, int left, bottom& b) {
    auto child = s.async("level", below<Level>(left, b));
    const int v = co_await std::move(child);
    co_return v + 1;
}
inline task<int> scopes(int left, bottom& b) { co_return co_await with_scope(in_scope<scopes>, left, std::ref(b)); }
inline task<int> jobs(int left, bottom& b) { co_return co_await with_scope(in_job<jobs>, left, std::ref(b)); }
inline task<int> guarded_jobs(int left, bottom& b) {
    const auto guard = co_await ignore_cancellation();
    co_return co_await with_scope(in_job<guarded_jobs>, left, std::ref(b));
}
template <level_function Level>
task<int> with_sibling(scope& s, int left, bottom& b) {
    s.launch("beside", beside(b));
    auto child = s.async("level", below<Level>(left, b));
    const int v = co_await std::move(child);
    co_return v + 1;
}
inline task<int> families(int left, bottom& b) { co_return co_await with_scope(with_sibling<families>, left, std::ref(b)); }
template <level_function Level>
task<int> launched(scope& s, int left, bottom& b) {
    s.launch("level", below<Level>(left, b));
    co_return 1;
}
inline task<int> launches(int left, bottom& b) { co_return co_await with_scope(launched<launches>, left, std::ref(b)); }
template <level_function Level>
task<int> selected_job(scope& s, int left, bottom& b) {
    auto child = s.async("level", below<Level>(left, b));
    event never;
    const auto got = co_await select(child.join(), never.wait());
    const int v = co_await std::move(child);
    co_return v + static_cast<int>(got.index());
}
inline task<int> selects(int left, bottom& b) { co_return co_await with_scope(selected_job<selects>, left, std::ref(b)); }
template <level_function Level>
task<int> shared_job(scope& s, int left, bottom& b) {
    const shared_deferred<int> child(s.async("level", below<Level>(left, b)));
    const int& v = co_await child;
    co_return v + 1;
}
inline task<int> shared(int left, bottom& b) { co_return co_await with_scope(shared_job<shared>, left, std::ref(b)); }
template <level_function Level>
task<int> coalesced_job(scope& s, int left, bottom& b) {
    coalescer<int, int> all(s);
    const auto compute = [left, at = &b](int) -> task<int> { return below<Level>(left, *at); };
    const int v = co_await all.coalesce(1, compute);
    co_return v + 1;
}
inline task<int> coalesced(int left, bottom& b) {
    co_return co_await with_scope(coalesced_job<coalesced>, left, std::ref(b));
}
template <level_function Level>
task<int> in_limited(limited_scope& s, int left, bottom& b) {
    auto child = s.async("level", below<Level>(left, b));
    const int v = co_await std::move(child);
    co_return v + 1;
}
inline task<int> limits(int left, bottom& b) {
    co_return co_await with_limited_scope(2, in_limited<limits>, left, std::ref(b));
}
inline task<int> collects(int left, bottom& b) { co_return co_await collect(in_job<collects>, left, std::ref(b)); }
template <level_function Level>
task<> in_supervisor(supervisor& s, int left, bottom& b) {
    s.launch("level", drop_value<Level>, left, std::ref(b));
    co_return;
}
inline task<int> supervised_levels(int left, bottom& b) {
    const auto ended = co_await supervise(on_failure::escalate(), in_supervisor<supervised_levels>, left, std::ref(b));
    co_return ended.has_value() ? 1 : 0;
}
inline task<int> closes(int left, bottom& b) {
    owned_scope own(b.executor, "own");
    own.launch("level", below<closes>(left, b));
    co_await own.close();
    co_return 1;
}
inline task<int> hops(int left, bottom& b) { co_return co_await on(b.executor, below<hops>(left, b)); }

// --- groups ----------------------------------------------------------------------------------------------------------

inline task<int> groups(int left, bottom& b) {
    const auto [v, w] = co_await when_all(below<groups>(left, b), one());
    co_return v + w;
}
inline task<int> failing_groups(int left, bottom& b) {
    const auto [v, w] = co_await when_all(below<failing_groups>(left, b), beside(b));
    co_return v + w;
}
inline task<int> races(int left, bottom& b) {
    const auto first = co_await race(below<races>(left, b), beside(b));
    co_return first.value();
}
inline task<int> races_to_the_right(int left, bottom& b) {
    const auto first = co_await race(beside(b), below<races_to_the_right>(left, b));
    co_return first.value();
}
inline task<int> successes(int left, bottom& b) {
    const auto first = co_await first_success(below<successes>(left, b), beside(b));
    co_return first.value();
}
inline task<int> maps(int left, bottom& b) {
    const auto level = [left, at = &b](int) -> task<int> { return below<maps>(left, *at); };
    std::vector<int> items{1};
    const std::vector<int> all = co_await map_concurrent(std::move(items), 2, level);
    co_return all.front();
}

}  // namespace nesting
