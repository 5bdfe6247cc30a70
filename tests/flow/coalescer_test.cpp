#include <roost/flow/coalescer.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>

#include "../task/further.hpp"
#include "../task/rig.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace roost;

namespace {

class pages {
public:
    pages() = default;
    event gate;
    int fetched = 0;
    std::vector<std::string> got;
    std::vector<job> getters;
};
task<std::string> fetch(pages& p, std::string key) {
    ++p.fetched;
    co_await p.gate.wait();
    if (key == "bad") {
        throw std::runtime_error("no such page");
    }
    co_return "page " + key;
}
task<> ask_for(coalescer<std::string, std::string>& c, pages& p, std::string key) {
    auto fn = [&p](std::string k) { return fetch(p, std::move(k)); };
    auto page = co_await as_outcome(c.coalesce(key, fn));
    p.got.push_back(page.has_value() ? page.value() : describe(page.error()));
}
task<> browse(scope& s, pages& p, std::optional<coalescer<std::string, std::string>>& c) {
    c.emplace(s);
    for (const char* key : {"a", "b", "a", "bad", "a", "bad"}) {
        p.getters.push_back(s.launch("getter", ask_for(*c, p, key)));
    }
    co_return;
}
task<> run_browse(pages& p, std::optional<coalescer<std::string, std::string>>& c) {
    co_await with_scope(browse, std::ref(p), std::ref(c));
}

TEST(coalescer, TASK_37_same_key_one_computation_and_a_failure_reaches_its_getters_only) {
    rig::stage s;
    pages p;
    std::optional<coalescer<std::string, std::string>> c;
    const job j = s.play(run_browse(p, c));
    EXPECT_EQ(p.fetched, 3);
    EXPECT_EQ(c->size(), 3U);
    p.gate.set();
    s.run();
    EXPECT_EQ(c->size(), 0U);
    ASSERT_EQ(p.got.size(), 6U);
    EXPECT_EQ(std::count(p.got.begin(), p.got.end(), "page a"), 3);
    EXPECT_EQ(std::count(p.got.begin(), p.got.end(), "std::runtime_error: no such page"), 2);
    EXPECT_EQ(j.state(), job_state::completed);
}

TEST(coalescer, TASK_37_a_cancelled_getter_leaves_the_computation_to_the_others) {
    rig::stage s;
    pages p;
    std::optional<coalescer<std::string, std::string>> c;
    s.play(run_browse(p, c));
    p.getters[0].cancel();
    s.run();
    p.gate.set();
    s.run();
    EXPECT_EQ(std::count(p.got.begin(), p.got.end(), "page a"), 2);
    EXPECT_EQ(p.fetched, 3);
}

task<int> fail_twice_later(event& e) {
    co_await e.wait();
    co_await further::fail_twice("no such page", "its cleanup");
    co_return 0;
}
task<> ask_twice(coalescer<int, int>& c, event& e, further::texts& got) {
    auto fn = [&e](int) { return fail_twice_later(e); };
    auto ended = co_await as_outcome(c.coalesce(1, fn));
    for (const std::string& text : further::texts_of(ended.others())) {
        got.push_back(text);
    }
}
task<> two_getters(scope& s, event& e, further::texts& got) {
    coalescer<int, int> c(s);
    const job a = s.launch("getter", ask_twice(c, e, got));
    const job b = s.launch("getter", ask_twice(c, e, got));
    co_await a.join();
    co_await b.join();
}

TEST(coalescer, JOB_83_what_failed_beside_the_failure_reaches_every_getter) {
    rig::stage s;
    event e;
    further::texts got;
    const auto go = [](event& x, further::texts& y) -> task<> {
        co_await with_scope(two_getters, std::ref(x), std::ref(y));
    };
    const job j = s.play(go(e, got));
    e.set();
    s.run();
    EXPECT_EQ(got, (further::texts{"its cleanup", "its cleanup"}));
    EXPECT_EQ(j.state(), job_state::completed);
}

task<> ask_and_note(coalescer<int, int>& c, event& e, int how, std::string& note) {
    const auto fn = [&e, how](int) -> task<int> {
        if (how == 0) {
            throw std::runtime_error("before there is a task");
        }
        return fail_twice_later(e);
    };
    auto ended = co_await as_outcome(c.coalesce(1, fn));
    note = ended.has_error() ? further::text_of(ended.error()) : "no error";
}
task<> one_getter(scope& s, event& e, int how, std::string& note, job& getter) {
    coalescer<int, int> c(s);
    getter = s.launch("getter", ask_and_note(c, e, how, note));
    co_await getter.join();
}
task<> run_one_getter(event& e, int how, std::string& note, job& getter) {
    co_await with_scope(one_getter, std::ref(e), how, std::ref(note), std::ref(getter));
}

TEST(coalescer, JOB_88_without_a_getter_the_failure_reaches_the_sink) {
    further::listener sink;
    rig::stage s;
    event e;
    std::string note;
    job getter;
    const job j = s.play(run_one_getter(e, 1, note, getter));
    getter.cancel();
    s.run();
    EXPECT_TRUE(getter.is_finished());
    e.set();
    s.run();
    EXPECT_EQ(sink.take(), (further::texts{"no such page", "its cleanup"}));
    EXPECT_EQ(j.state(), job_state::completed);
}

std::string unreceived;
TEST(coalescer, JOB_88_the_sink_receives_the_name_and_the_site_of_the_coalescer) {
    unreceived.clear();
    const auto before =
        set_failure_sink(+[](std::string_view what, std::string_view name, site made_at, std::exception_ptr) noexcept {
            unreceived += std::string(what) + " '" + std::string(name) + "' (" + made_at.to_string() + ")\n";
        });
    rig::stage s;
    event e;
    const site here = site::here();
    coalescer<int, int> c(s.root, "pages");
    auto fn = [&e](int) { return fail_twice_later(e); };
    const job getter = s.root.launch("getter", c.coalesce(1, fn));
    s.run();
    getter.cancel();
    s.run();
    e.set();
    s.run();
    set_failure_sink(before);
    const std::string place = here.to_string();
    const std::string line = "a coalesced computation 'pages' (" + place.substr(0, place.rfind(':') + 1) +
                             std::to_string(here.line() + 1) + ")\n";
    EXPECT_EQ(unreceived, line + line) << "the failure, and that of its cleanup";
}

TEST(coalescer, JOB_88_a_function_that_throws_fails_its_getters_only) {
    further::listener sink;
    rig::stage s;
    event e;
    std::string note;
    job getter;
    const job j = s.play(run_one_getter(e, 0, note, getter));
    EXPECT_EQ(note, "before there is a task");
    EXPECT_EQ(j.state(), job_state::completed);
    EXPECT_EQ(sink.take(), further::texts());
}

task<int> cancels_itself(scope& s, event& never) {
    s.cancel(reason(reason_kind::requested, "withdrawn"));
    co_await never.wait();
    co_return 0;
}
task<int> compute_withdrawn(event& never) { co_return co_await with_scope(cancels_itself, std::ref(never)); }
task<> ask_withdrawn(coalescer<int, int>& c, event& never) {
    auto fn = [&never](int) { return compute_withdrawn(never); };
    static_cast<void>(co_await c.coalesce(1, fn));
    ADD_FAILURE() << "there is no value";
}
task<> withdrawn(scope& s, event& never, job& getter) {
    coalescer<int, int> c(s);
    getter = s.launch("getter", ask_withdrawn(c, never));
    co_await getter.join();
}

TEST(coalescer, JOB_88_a_computation_that_ends_cancelled_ends_its_getters_cancelled) {
    rig::stage s;
    event never;
    job getter;
    const auto go = [](event& x, job& y) -> task<> { co_await with_scope(withdrawn, std::ref(x), std::ref(y)); };
    const job j = s.play(go(never, getter));
    EXPECT_EQ(getter.state(), job_state::cancelled);
    EXPECT_EQ(getter.why().text(), "withdrawn");
    EXPECT_EQ(j.state(), job_state::completed);
}

#if !defined(__clang__)  // clang 19 uses a frame that it has freed when the copy of a parameter into the frame throws
struct throws_when_copied {
    int* left;
    explicit throws_when_copied(int& n) : left(&n) {}
    throws_when_copied(const throws_when_copied& other) : left(other.left) {  // NOLINT: its move is its copy
        if (*left >= 0 && (*left)-- == 0) {
            throw std::bad_alloc();
        }
    }
    task<int> operator()(int key) const { return seven(key); }
    static task<int> seven(int /*key*/) { co_return 7; }
};
task<> ask_copying(coalescer<int, int>& c, const throws_when_copied& fn, std::string& got) {
    try {
        const auto ended = co_await as_outcome(c.coalesce(1, fn));
        got += ended.has_value() ? "value " : "error ";
    } catch (const std::bad_alloc&) {
        got += "error ";  // of a copy that is made in the call
    }
}
TEST(coalescer, TASK_37_a_function_whose_copy_throws_leaves_no_key_behind) {
    for (int k = 0; k < 8; ++k) {
        rig::stage s;
        coalescer<int, int> c(s.root);
        int left = -1;
        const throws_when_copied fn(left);
        std::string got;
        left = k;
        s.play(ask_copying(c, fn, got));
        left = -1;
        EXPECT_EQ(c.size(), 0U) << k;
        s.play(ask_copying(c, fn, got));
        EXPECT_TRUE(got == "error value " || got == "value value ") << k << ": " << got;
    }
}
#endif

// The coalescer goes while a getter has only begun: its memory is no longer its own then.
task<> ask_gone(task<std::string> getter, std::string& got) { got = co_await std::move(getter); }
task<> destroy_and_ask(scope& s, pages& p, std::string& got) {
    using table = coalescer<std::string, std::string>;
    alignas(table) unsigned char place[sizeof(table)];
    auto* c = ::new (static_cast<void*>(place)) table(s);
    auto getter = c->coalesce("a", [&p](std::string k) { return fetch(p, std::move(k)); });
    std::destroy_at(c);
    std::fill(std::begin(place), std::end(place), static_cast<unsigned char>(0));
    co_await ask_gone(std::move(getter), got);
}
TEST(coalescer, TASK_37_may_go_before_its_getters_have_begun) {
    rig::stage s;
    pages p;
    p.gate.set();
    std::string got;
    s.play(as_task(with_scope(destroy_and_ask, std::ref(p), std::ref(got))));
    EXPECT_EQ(got, "page a");
}

}  // namespace
