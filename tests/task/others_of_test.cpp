// Failures that travel with an exception: a body that catches it has handled them all.
#include <roost/flow/coalescer.hpp>
#include <roost/flow/map_concurrent.hpp>
#include <roost/flow/race.hpp>
#include <roost/flow/retry.hpp>
#include <roost/flow/supervise.hpp>
#include <roost/flow/when_all.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/on.hpp>
#include <roost/task/others_of.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/shield.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/timeout.hpp>
#include <roost/task/with_note.hpp>

#include "further.hpp"
#include "rig.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace roost;
using namespace std::chrono_literals;
using further::texts;
using further::texts_of;

namespace {

task<> fail_after(event& e, std::string text) {
    co_await e.wait();
    throw std::runtime_error(text);
}
task<int> fail_int(event& e, std::string text) {
    co_await e.wait();
    throw std::runtime_error(text);
}
task<> two_fail(scope& s, event& e) {
    s.launch("a", fail_after(e, "A"));
    s.launch("b", fail_after(e, "B"));
    co_await yield();
    co_await yield();
    e.set();
}
task<> two_fail_supervised(supervisor& s, event& e) {
    s.launch("a", fail_after, std::ref(e), "A");
    s.launch("b", fail_after, std::ref(e), "B");
    co_await yield();
    co_await yield();
    e.set();
}
task<> set_soon(event& e) {
    co_await yield();
    e.set();
}
task<int> attempt(int& n) {
    throw std::runtime_error(std::string(1, static_cast<char>('A' + (1 - n++))));
    co_return 0;
}
task<> in_scope(event& e) { co_await with_scope(two_fail, std::ref(e)); }
task<int> mapped(event& e, int i) { return fail_int(e, i == 0 ? "A" : "B"); }
task<> map_body(event& e) {
    std::vector<int> items(2);
    items[1] = 1;
    const auto each = [&e](int i) { return mapped(e, i); };
    static_cast<void>(co_await map_concurrent(items, 2, each));
}
task<> with_setter(scope& s, event& e, task<> t) {
    s.launch("sets", set_soon(e));
    co_await std::move(t);
}

// Everything that throws a failure with another one beside it; the first is always "A", the other "B".
enum class way { scope, all, race, retried, supervised, collected, owned, elsewhere, timed, shielded, nested, mapped };
constexpr way ways[] = {way::scope, way::all,       way::race,  way::retried,  way::supervised, way::collected,
                        way::owned, way::elsewhere, way::timed, way::shielded, way::nested,     way::mapped};
task<> pair(event& e, bool as_race) {
    if (as_race) {
        static_cast<void>(co_await race(fail_int(e, "A"), fail_int(e, "B")));
    } else {
        static_cast<void>(co_await when_all(fail_int(e, "A"), fail_int(e, "B")));
    }
}
task<> close_owned(executor_ref where, event& e) {
    owned_scope group(where, "group");
    group.launch("a", fail_after(e, "A"));
    group.launch("b", fail_after(e, "B"));
    co_await yield();
    e.set();
    co_await group.close();
}
task<> fail(way how, executor_ref where) {
    event e;
    int n = 0;
    switch (how) {
        case way::scope: co_await with_scope(two_fail, std::ref(e)); break;
        case way::all: co_await with_scope(with_setter, std::ref(e), pair(e, false)); break;
        case way::race: co_await with_scope(with_setter, std::ref(e), pair(e, true)); break;
        case way::retried: static_cast<void>(co_await retry(backoff(), 2, attempt, std::ref(n))); break;
        case way::supervised:
            static_cast<void>(co_await supervise(on_failure::escalate(), two_fail_supervised, std::ref(e)));
            break;
        case way::collected: co_await with_scope(scope_options("collect").keep_going(), two_fail, std::ref(e)); break;
        case way::owned: co_await close_owned(where, e); break;
        case way::elsewhere: co_await on(where, in_scope(e)); break;
        case way::timed: co_await roost::fail_after(1s, in_scope(e)); break;
        case way::shielded: co_await shield(1s, in_scope(e)); break;
        case way::nested: co_await with_scope(with_setter, std::ref(e), in_scope(e)); break;
        case way::mapped: co_await with_scope(with_setter, std::ref(e), map_body(e)); break;
    }
}

class seen {
public:
    std::string caught;
    texts others;
    bool goes_on = false;
};
task<> handle(way how, executor_ref where, seen& s) {
    try {
        co_await fail(how, where);
    } catch (const std::runtime_error& e) {
        s.caught = e.what();
        s.others = texts_of(others_of(std::current_exception()));
    }
    co_await yield();
    s.goes_on = true;
}
task<> handler_and_sibling(scope& s, way how, seen& got, event& hold, int& sibling) {
    s.launch("handler", handle(how, s.executor(), got));
    co_await hold.wait();
    ++sibling;
}

TEST(others_of, JOB_100_a_caught_failure_is_handled_with_all_that_travelled_with_it) {
    for (const way how : ways) {
        SCOPED_TRACE(static_cast<int>(how));
        further::listener sink;
        seen got;
        event hold;
        int sibling = 0;
        {
            rig::stage s;
            const auto go = [](way h, seen& g, event& e, int& n) -> task<> {
                co_await with_scope(handler_and_sibling, h, std::ref(g), std::ref(e), std::ref(n));
            };
            const job j = s.play(go(how, got, hold, sibling));
            EXPECT_EQ(j.state(), job_state::active) << "the sibling was not cancelled";
            hold.set();
            s.run();
            EXPECT_EQ(j.state(), job_state::completed);
            EXPECT_TRUE(j.others().empty());
        }
        EXPECT_EQ(got.caught, "A");
        EXPECT_EQ(got.others, texts{"B"});
        EXPECT_TRUE(got.goes_on);
        EXPECT_EQ(sibling, 1);
        EXPECT_EQ(sink.take(), texts()) << "nothing is left to report";
    }
}

TEST(others_of, JOB_100_uncaught_they_arrive_with_the_error_in_the_outcome_of_the_job) {
    for (const way how : ways) {
        SCOPED_TRACE(static_cast<int>(how));
        further::listener sink;
        rig::stage s;
        const job j = s.play(fail(how, s.executor));
        EXPECT_EQ(j.state(), job_state::failed);
        EXPECT_EQ(further::text_of(j.error()), "A");
        EXPECT_EQ(texts_of(j.others()), texts{"B"});
        EXPECT_EQ(sink.take(), (texts{"A", "B"})) << "a root has nothing above it";
    }
}

task<> look(way how, executor_ref where, texts& got) {
    const outcome<void> ended = co_await as_outcome(fail(how, where));
    got = texts_of(ended.others());
    got.insert(got.begin(), further::text_of(ended.error()));
}
TEST(others_of, JOB_100_as_an_outcome_they_are_its_others) {
    for (const way how : ways) {
        SCOPED_TRACE(static_cast<int>(how));
        further::listener sink;
        rig::stage s;
        texts got;
        const job j = s.play(look(how, s.executor, got));
        EXPECT_EQ(j.state(), job_state::completed);
        EXPECT_EQ(got, (texts{"A", "B"}));
        EXPECT_EQ(sink.take(), texts());
    }
}

// The usual form of cleanup that awaits: the exception is kept, and thrown again later.
task<> clean_up_and_rethrow(executor_ref where) {
    std::exception_ptr kept;
    try {
        co_await fail(way::scope, where);
    } catch (...) {
        kept = std::current_exception();
    }
    try {
        co_await fail(way::race, where);
    } catch (const std::runtime_error&) {}
    co_await yield();
    std::rethrow_exception(kept);
}
TEST(others_of, JOB_100_they_are_found_again_when_the_exception_is_thrown_again) {
    further::listener sink;
    rig::stage s;
    const job j = s.play(clean_up_and_rethrow(s.executor));
    EXPECT_EQ(texts_of(j.others()), texts{"B"});
    EXPECT_EQ(sink.take(), (texts{"A", "B"}));
}

task<> translate(executor_ref where) {
    try {
        co_await fail(way::scope, where);
    } catch (const std::runtime_error&) {
        throw std::logic_error("translated");
    }
}
TEST(others_of, JOB_100_an_exception_that_a_handler_throws_is_another_one) {
    further::listener sink;
    rig::stage s;
    const job j = s.play(translate(s.executor));
    EXPECT_EQ(further::text_of(j.error()), "translated");
    EXPECT_TRUE(j.others().empty());
    EXPECT_EQ(sink.take(), texts{"translated"});
}

class counted : public std::runtime_error {
public:
    explicit counted(long& alive) : std::runtime_error("counted"), alive_(&alive) { ++*alive_; }
    counted(const counted& other) noexcept : std::runtime_error(other), alive_(other.alive_) { ++*alive_; }
    counted& operator=(const counted&) = delete;
    ~counted() override { --*alive_; }

private:
    long* alive_;
};
task<> throw_counted(event& e, long& alive) {
    co_await e.wait();
    throw counted(alive);
}
task<> counted_round(scope& s, event& e, long& alive) {
    s.launch("a", throw_counted(e, alive));
    s.launch("b", throw_counted(e, alive));
    co_await yield();
    co_await yield();
    e.set();
}
task<> serve(int rounds, long& alive, long& most) {
    for (int i = 0; i < rounds; ++i) {
        try {
            event e;
            co_await with_scope(counted_round, std::ref(e), std::ref(alive));
        } catch (const counted&) {}
        most = alive > most ? alive : most;
    }
}
TEST(others_of, JOB_101_a_job_that_handles_failures_for_ever_keeps_a_few) {
    further::listener sink;
    long alive = 0;
    long most = 0;
    rig::stage s;
    const job j = s.play(serve(2000, alive, most));
    EXPECT_EQ(j.state(), job_state::completed);
    EXPECT_LE(most, 10);
    EXPECT_EQ(alive, 0) << "also while the job is held";
    EXPECT_EQ(sink.take(), texts());
}

task<> cleanup_fails_often(int rounds) {
    for (int i = 0; i < rounds; ++i) {
        co_await further::return_with("cleanup");
    }
}
TEST(others_of, JOB_101_of_failures_that_cannot_be_caught_a_job_keeps_a_hundred_and_reports_the_rest) {
    further::listener sink;
    rig::stage s;
    const job j = s.play(cleanup_fails_often(130));
    EXPECT_EQ(j.others().size(), 100U);
    EXPECT_EQ(sink.take().size(), 130U) << "thirty at once, the others at the end, as nothing is above";
}

task<> noted(int rounds) {
    for (int i = 0; i < rounds; ++i) {
        try {
            co_await with_note("round " + std::to_string(i), further::cleanup_fails("handled"));
        } catch (const std::runtime_error&) {}
    }
}
TEST(others_of, JOB_101_a_job_keeps_the_latest_hundred_notes) {
    rig::stage s;
    const job j = s.play(noted(250));
    ASSERT_EQ(j.notes().size(), 100U);
    EXPECT_EQ(j.notes().front().find("round 150 ("), 0U) << j.notes().front();
    EXPECT_EQ(j.notes().back().find("round 249 ("), 0U) << j.notes().back();
}

task<int> compute(event& e) {
    static_cast<void>(co_await when_all(fail_int(e, "A"), fail_int(e, "B")));
    co_return 0;
}
task<> get(coalescer<int, int>& all, event& e, seen& got) {
    try {
        static_cast<void>(co_await all.coalesce(1, [&e](int) { return compute(e); }));
    } catch (const std::runtime_error& x) {
        got.caught = x.what();
        got.others = texts_of(others_of(std::current_exception()));
    }
    got.goes_on = true;
}
task<> two_getters(scope& s, event& e, seen& one, seen& two) {
    coalescer<int, int> all(s);
    const job a = s.launch("one", get(all, e, one));
    const job b = s.launch("two", get(all, e, two));
    for (int i = 0; i < 8; ++i) {
        co_await yield();
    }
    e.set();
    co_await a.join();
    co_await b.join();
}
TEST(others_of, JOB_100_every_getter_of_a_coalesced_failure_handles_its_own) {
    further::listener sink;
    event e;
    seen one;
    seen two;
    {
        rig::stage s;
        const auto go = [](event& x, seen& y, seen& z) -> task<> {
            co_await with_scope(two_getters, std::ref(x), std::ref(y), std::ref(z));
        };
        EXPECT_EQ(s.play(go(e, one, two)).state(), job_state::completed);
    }
    for (const seen* got : {&one, &two}) {
        EXPECT_EQ(got->caught, "A");
        EXPECT_EQ(got->others, texts{"B"});
        EXPECT_TRUE(got->goes_on);
    }
    EXPECT_EQ(sink.take(), texts());
}

TEST(others_of, JOB_100_outside_of_jobs_there_are_none) {
    EXPECT_TRUE(others_of(std::make_exception_ptr(1)).empty());
    EXPECT_TRUE(others_of(nullptr).empty());
}

task<> cleans_up_and_rethrows(int failures) {
    std::exception_ptr first;
    try {
        event e;
        co_await with_scope(two_fail, std::ref(e));
    } catch (...) {
        first = std::current_exception();
    }
    for (int i = 0; i < failures; ++i) {
        try {
            event e;
            co_await with_scope(two_fail, std::ref(e));
        } catch (const std::runtime_error&) {}
    }
    std::rethrow_exception(first);
}
TEST(others_of, JOB_100_an_exception_that_is_held_keeps_them_however_many_are_caught_meanwhile) {
    further::listener sink;
    rig::stage s;
    const job j = s.play(cleans_up_and_rethrows(10));
    EXPECT_EQ(j.state(), job_state::failed);
    EXPECT_EQ(texts_of(j.others()), texts{"B"});
    EXPECT_EQ(sink.take().size(), 2U) << "those of the job, and none of those that were caught";
}

}  // namespace
