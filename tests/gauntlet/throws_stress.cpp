// Scenarios 14 and 15: whatever the user's code throws, and wherever.

#include <roost/base/failure_sink.hpp>
#include <roost/flow/race.hpp>
#include <roost/flow/supervise.hpp>
#include <roost/flow/when_all.hpp>
#include <roost/pool/pool.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/on_exit.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/this_task.hpp>
#include <roost/tree/callback.hpp>
#include <roost/tree/external_resource.hpp>

#include "../task/rig.hpp"
#include "../tree/tree_support.hpp"
#include "quiet.hpp"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>
#include <utility>

namespace {

using namespace roost;
using namespace roost::ext;
using gauntlet::census;
using gauntlet::counted;
using gauntlet::load;
using gauntlet::quiet;

struct planted : std::runtime_error {
    planted() : std::runtime_error("planted") {}
};

// Throws at its nth call; what is alive is counted.
class fuse {
public:
    void light(int n) { left_ = n; }
    void burn() {
        ++calls_;
        if (left_ > 0 && --left_ == 0) {
            ++thrown_;
            throw planted();
        }
    }
    [[nodiscard]] long calls() const { return calls_; }
    [[nodiscard]] long thrown() const { return thrown_; }
    census alive;

private:
    int left_ = 0;
    long calls_ = 0;
    long thrown_ = 0;
};

// A value whose copies and moves may throw.
class delicate {
public:
    explicit delicate(fuse& f) : fuse_(&f), alive_(f.alive) { fuse_->burn(); }
    delicate(const delicate& other) : fuse_(other.fuse_), alive_(other.alive_) { fuse_->burn(); }
    delicate(delicate&& other) : fuse_(other.fuse_), alive_(other.alive_) { fuse_->burn(); }
    delicate& operator=(const delicate&) = delete;
    void use() const { fuse_->burn(); }

private:
    fuse* fuse_;
    counted alive_;
};

task<delicate> make(fuse& f) {
    co_await yield();
    co_return delicate(f);
}
task<> cleanup(fuse& f) {
    co_await yield();
    f.burn();
}
// A callable whose copies, moves and calls may throw.
template <class Fn>
class shaky {
public:
    shaky(fuse& f, Fn fn) : inside_(f), fuse_(&f), fn_(fn) {}
    template <class... Args>
    auto operator()(Args&&... args) const {
        fuse_->burn();
        return fn_(std::forward<Args>(args)...);
    }

private:
    delicate inside_;
    fuse* fuse_;
    Fn fn_;
};

// What one round shares.
struct round {
    round(fuse& with, pool<delicate>& from) : f(with), p(from) {}
    fuse& f;
    pool<delicate>& p;
    event go;
    job sibling;
    bool scope_failed = false;
};

task<> body(fuse& f) {
    co_await on_exit(cleanup, std::ref(f));
    const delicate d = co_await make(f);
    d.use();
}
task<> waits(event& e) { co_await e.wait(); }
task<> children(scope& s, round& r) {
    r.sibling = s.launch("sibling", waits(r.go));
    auto a = s.async("a", make(r.f));
    const job b = s.launch("b", body(r.f));
    const delicate d = co_await std::move(a);
    d.use();
    co_await b.join();
    r.go.set();
}
task<> supervised_child(fuse& f) {
    co_await yield();
    f.burn();
}
task<> supervised_body(supervisor& s, fuse& f) {
    for (int i = 0; i < 3; ++i) {
        const shaky child(f, supervised_child);
        s.launch("child", child, std::ref(f));
    }
    co_await yield();
    f.burn();
}
task<> everything(round& r) {
    fuse& f = r.f;
    {
        const shaky start(f, children);
        try {
            co_await with_scope(start, std::ref(r));
        } catch (...) {
            r.scope_failed = true;
            throw;
        }
    }
    auto both = co_await when_all(make(f), make(f));
    std::get<0>(both).use();
    auto first = co_await race(make(f), make(f));
    first.value().use();
    static_cast<void>(co_await supervise(on_failure::ignore(), supervised_body, std::ref(f)));
    auto got = co_await r.p.acquire();
    if (got) {
        got->use();
        got.handle().discard();
    }
    auto again = co_await r.p.acquire();
    if (again) {
        again->use();
    }
    auto later = co_await as_outcome(body(f));
    static_cast<void>(later);
}

// What the failure sink heard, and of whom.
struct heard {
    long hooks = 0;
    long callbacks = 0;
};
heard sink;
void hear(std::string_view what, std::string_view, site, std::exception_ptr) noexcept {
    sink.hooks += what == "on_error of pool" ? 1 : 0;
    sink.callbacks += what.find("callback") != std::string_view::npos || what.starts_with("on_cancel") ? 1 : 0;
}

// Callbacks of a cancel: what they throw goes to the failure sink, and the cancel goes on to the next.
long ran_last = 0;
void cancels(fuse& f, rig::manual& where) {
    const auto node = tree_support::make_root("cancelled");
    const shaky fn(f, [] {});
    const callback posted(token(*node), level::cancel, where, fn);
    const inline_callback at_once(token(*node), level::cancel, fn);
    const auto outside = external_resource::open(*node, "outside", fn);
    const inline_callback last(token(*node), level::cancel, [] { ++ran_last; });
    node->cancel();
    where.run();
}

pool_options delicate_options(bool hook_throws, long& hooked) {
    pool_options o(1, "delicate");
    o.on_error = [hook_throws, &hooked](const pool_error&) {
        if (hook_throws) {
            ++hooked;
            throw planted();
        }
    };
    return o;
}

TEST(gauntlet_throws, GAUNTLET_14_POOL_90_the_nth_call_of_user_code_throws) {
    const quiet q("scenario 14");
    const long rounds = load(100'000, 1000);
    fuse f;
    long completed = 0;
    long failed = 0;
    long hooked = 0;
    long siblings = 0;
    long in_callbacks = 0;
    sink = {};
    ran_last = 0;
    const auto before = set_failure_sink(&hear);
    std::mt19937 random(14);
    for (long i = 0; i < rounds; ++i) {
        pool<delicate> p(
            delicate_options(random() % 2 == 0, hooked),
            shaky(f,
                  [&f] {
                      f.burn();
                      return delicate(f);
                  }),
            [](delicate& d) { d.use(); },
            [](delicate& d) {
                d.use();
                return true;
            });
        job j;
        round r(f, p);
        rig::manual where;
        {
            rig::stage s;
            f.light(1 + static_cast<int>(random() % 80));
            j = s.play(everything(r));
        }
        const long thrown_before = f.thrown();
        const long last_before = ran_last;
        bool refused = false;
        try {
            cancels(f, where);
        } catch (const planted&) {
            refused = true;  // while they were made
        }
        const long thrown = f.thrown() - thrown_before - (refused ? 1 : 0);
        f.light(0);
        ASSERT_TRUE(j.is_finished());
        ASSERT_NE(j.state(), job_state::cancelled) << "a failure is no cancellation";
        (j.state() == job_state::completed ? completed : failed) += 1;
        if (r.sibling) {
            ASSERT_EQ(r.sibling.state(), r.scope_failed ? job_state::cancelled : job_state::completed);
            siblings += r.scope_failed ? 1 : 0;
        }
        ASSERT_EQ(ran_last - last_before, refused ? 0 : 1) << "a callback that threw has stopped the cancel";
        in_callbacks += thrown;
        ASSERT_EQ(sink.callbacks, in_callbacks) << "what a callback throws is told, once";
        ASSERT_EQ(sink.hooks, hooked) << "what an error hook throws is told, once";
        ASSERT_EQ(p.stats().out, 0U);
        ASSERT_TRUE(p.close_blocking());
    }
    set_failure_sink(before);
    q.expect_none(f.alive, "values");
    EXPECT_GT(failed, 0);
    EXPECT_GT(siblings, 0);
    EXPECT_GT(in_callbacks, 0);
    EXPECT_GT(hooked, 0);
    q.say(
        "%ld rounds, %ld calls, %ld thrown: %ld jobs failed, %ld went on; %ld siblings cancelled, %ld callbacks of a cancel "
        "and "
        "%ld error hooks threw",
        rounds, f.calls(), f.thrown(), failed, completed, siblings, in_callbacks, hooked);
}

// Throws when it is moved out of where the result was kept.
class hot {
public:
    hot(bool& armed, census& c) : armed_(&armed), alive_(c) {}
    hot(hot&& other) : armed_(other.armed_), alive_(other.alive_) {
        if (*armed_) {
            throw planted();
        }
    }

private:
    bool* armed_;
    counted alive_;
};
task<hot> make_hot(bool& armed, census& c) {
    co_await yield();
    co_return hot(armed, c);
}
task<> sibling(event& e) { co_await e.wait(); }
task<> receives(scope& s, bool& armed, census& c, event& e, int& caught) {
    auto d = s.async("hot", make_hot(armed, c));
    auto other = s.launch("sibling", sibling(e));
    co_await d.join();
    armed = true;
    try {
        const hot h = co_await std::move(d);
    } catch (const planted&) {
        ++caught;
    }
    armed = false;
    e.set();
}
task<> run_receives(bool& armed, census& c, event& e, int& caught) {
    co_await with_scope(receives, std::ref(armed), std::ref(c), std::ref(e), std::ref(caught));
}
task<> direct(bool& armed, census& c, int& caught) {
    armed = true;
    try {
        const hot h = co_await make_hot(armed, c);
    } catch (const planted&) {
        ++caught;
    }
    armed = false;
}

TEST(gauntlet_throws, GAUNTLET_15_a_result_that_throws_while_it_is_delivered_is_heard_once) {
    const quiet q("scenario 15");
    const long rounds = load(100'000, 1000);
    census values;
    long heard = 0;
    for (long i = 0; i < rounds; ++i) {
        bool armed = false;
        int caught = 0;
        event e;
        rig::stage s;
        const job j = i % 2 == 0 ? s.play(run_receives(armed, values, e, caught)) : s.play(direct(armed, values, caught));
        ASSERT_EQ(j.state(), job_state::completed);
        ASSERT_EQ(caught, 1);
        heard += caught;
    }
    q.expect_none(values, "values");
    q.say("%ld deliveries threw, %ld heard", rounds, heard);
}

}  // namespace
