#pragma once

// What the jobs of the soak do to their world, one thing at a time, each with its rules.

#include <roost/flow/select.hpp>
#include <roost/flow/supervise.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/generator.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/timeout.hpp>
#include <roost/task/until_stop.hpp>

#include "soak_world.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>

namespace soak {

using namespace roost;
using namespace roost::ext;
using namespace std::chrono_literals;
using gauntlet::counted;

inline task<> use_permit(world& w) {
    auto p = co_await w.permits.acquire();
    const visitor in(w.permitted);
    w.rules.must(in.now() <= 2, "at most two hold a permit");
    w.permits_used.fetch_add(1);
    co_await yield();
}
inline task<> use_lock(world& w) {
    auto held = co_await w.lock.lock();
    const long before = w.under_the_lock;
    co_await yield();
    w.under_the_lock = before + 1;
    w.locked_adds.fetch_add(1);
}
inline task<> read_table(world& w) {
    auto held = co_await w.table.lock_shared();
    const long seen = w.left_page;
    w.rules.must(w.right_page == seen, "a reader sees what a writer has finished");
    co_await yield();
    w.rules.must(w.left_page == seen && w.right_page == seen, "nobody writes while somebody reads");
    w.reads.fetch_add(1);
}
// Between the pages nothing may end it.
inline task<> write_table(world& w, bool reads_on) {
    auto held = co_await w.table.lock();
    w.writes.fetch_add(1);
    ++w.left_page;
    const long written = ++w.right_page;
    if (reads_on) {
        auto reading = held.downgrade();
        co_await yield();
        w.rules.must(w.left_page == written && w.right_page == written, "nobody writes after a downgrade");
    }
}
// Keeps the lock for a while: whoever is notified may give up before it has it.
inline task<> put_one(world& w, duration slowly) {
    auto held = co_await w.store.lock();
    ++w.stock;
    ++w.put;
    w.not_empty.notify_one();
    co_await sleep_for(slowly);
}
inline task<> take_one(world& w) {
    auto held = co_await w.store.lock();
    while (w.stock == 0 && !w.store_closed) {
        co_await w.not_empty.wait(held);
    }
    if (w.stock > 0) {
        --w.stock;
        ++w.taken;
    }
}
inline task<> use_thing(world& w, bool breaks) {
    auto got = co_await w.things.acquire("job");
    (got ? w.things_used : w.things_refused).fetch_add(1);
    co_await yield();
    if (got && breaks) {
        got.handle().discard();
    }
}
inline task<> send_some(world& w, long n, duration patience) {
    const long me = w.senders.fetch_add(1);
    for (long i = 0; i < n; ++i) {
        letter l{me, i};
        bool taken = false;
        if (i % 2 == 0) {
            const auto ended = co_await w.letters.send_from(l);
            taken = static_cast<bool>(ended);
        } else {
            auto ended = co_await select(w.letters.send_from(l), sleep_for(patience));
            taken = ended.index() == 0 && static_cast<bool>(ended.get<0>());
        }
        if (!taken) {
            w.rules.must(l.from == me && l.number == i, "a letter that was not sent is still there");
            w.handed_back.fetch_add(1);
            co_return;
        }
        w.sent.add(l);
    }
}
inline task<> receive_some(world& w, long n) {
    for (long i = 0; i < n; ++i) {
        auto got = co_await w.letters.receive();
        if (!got) {
            co_return;
        }
        w.received.add(*got);
    }
}
inline task<> choose(world& w, duration patience) {
    auto got = co_await select(w.tick.wait(), w.letters.receive(), w.gate.wait(), w.permits.acquire(), sleep_for(patience));
    if (got.index() == 0) {
        w.ticks_taken.fetch_add(1);
    } else if (got.index() == 1) {
        if (auto& l = got.get<1>()) {
            w.received.add(*l);
        }
    } else if (got.index() == 3) {
        const visitor in(w.permitted);
        w.rules.must(in.now() <= 2, "at most two hold a permit, chosen or not");
        w.permits_used.fetch_add(1);
    }
}
inline task<> take_tick(world& w) {
    co_await w.tick.wait();
    w.ticks_taken.fetch_add(1);
}
inline task<> wait_for_all(world& w, long jobs) {
    co_await w.attendance.wait();
    w.rules.must(w.present.load() == jobs, "a latch opens when everybody was there");
}
inline task<> past(world& w, barrier::phase of) { co_await w.meeting.wait(of); }
inline task<> meet(world& w, duration patience) {
    const barrier::phase mine = w.meeting.arrive();
    w.arrivals.fetch_add(1);
    w.phases.fetch_add(static_cast<long>(mine));
    const auto passed = co_await move_on_after(patience, past(w, mine));
    w.rules.must(!passed || w.meeting.try_wait(mine), "whoever passes a barrier finds its phase over");
}
inline task<> be_first(world& w, int i, bool succeeds) {
    auto turn = co_await w.firsts[i].enter();
    if (!turn.is_mine()) {
        w.rules.must(w.first_done[i].load() == 1, "whoever passes without a turn finds it done");
        co_return;
    }
    const visitor at(w.at_it[i]);
    w.rules.must(at.now() == 1 && w.first_done[i].load() == 0, "one at a time, and nobody when it is done");
    co_await yield();
    if (succeeds) {
        w.first_done[i].fetch_add(1);
        turn.done();
    }
}
inline task<> read_news(world& w, long n) {
    auto mine = w.news.subscribe();
    long last = 0;
    for (long i = 0; i < n; ++i) {
        auto got = co_await mine.receive();
        if (!got) {
            co_return;
        }
        w.rules.must(last == 0 || *got == last + 1 + static_cast<long>(got.missed()),
                     "every value, or it is counted as missed");
        last = *got;
        w.news_read.fetch_add(1);
    }
}
inline task<> follow_headline(world& w, long n) {
    auto mine = w.headline.observe();
    long last = mine.get();
    for (long i = 0; i < n; ++i) {
        const bool fresh = co_await mine.changed();
        if (!fresh) {
            co_return;
        }
        const long now = mine.get();
        w.rules.must(now > last, "what has changed is newer");
        last = now;
    }
}
inline generator<long> numbers(world& w, long n, counted) {
    for (long i = 0; i < n; ++i) {
        co_await use_permit(w);
        co_yield i;
    }
}
inline task<> count_up(world& w, long n, long enough) {
    auto all = numbers(w, n, counted(w.frames));
    long next = 0;
    for (const long* i = co_await all.next(); i != nullptr && next < enough; i = co_await all.next()) {
        w.rules.must(*i == next, "a generator gives its values in order");
        ++next;
        w.counted_up.fetch_add(1);
    }
    w.rules.must(next == std::min(n, enough), "a generator gives all its values");
}
inline task<> fails_after(duration d) {
    co_await sleep_for(d);
    throw planted();
}
inline task<> never_ends(world& w) { co_await w.gate.wait(); }

struct attempts {
    long to_fail;
    long made = 0;
};
inline task<> restarted(attempts& a) {
    ++a.made;
    co_await sleep_for(10us);
    if (a.made <= a.to_fail) {
        throw planted();
    }
}
inline task<> restarts(supervisor& s, attempts& a) {
    s.launch("restarted", restarted, std::ref(a));
    co_return;
}
inline task<> be_restarted(world& w, long failures) {
    constexpr long limit = 5;
    attempts a{failures};
    auto ended = co_await as_outcome(supervise(on_failure::restart(backoff(1us), limit), restarts, std::ref(a)));
    if (!ended.has_value()) {
        w.rules.must(failures > limit && a.made == limit + 1,
                     "a failure escalates when the limit is reached, and only then");
    } else {
        const auto& counts = ended.value().counts();
        const auto again = static_cast<long>(counts.restarts);
        w.rules.must(counts.completed + counts.cancelled == 1 && counts.failed == 0, "a child ends in one way");
        if (counts.completed == 1) {
            w.rules.must(failures <= limit && a.made == failures + 1, "an attempt more than there were failures");
            w.rules.must(again == failures, "restarts are counted");
        } else {  // by its job; the body had returned before, so its value is here
            w.rules.must(a.made <= again + 1 && again <= limit && again <= failures, "no more attempts than restarts allow");
        }
    }
    w.restarts.fetch_add(a.made > 1 ? a.made - 1 : 0);
}

// Work of a department: what it waits for ends when the department is stopped.
inline task<> serve(world& w, department& in, std::uint64_t how) {
    const bool over = in.completed.load();
    auto work = in.node.try_guard();
    w.rules.must(!over || !work, "no guard after a completion");
    if (!work) {
        // Also while the stop of the world is on its way here.
        w.rules.must(w.node.state() != shutdown_state::running || in.node.state() != shutdown_state::running,
                     "a guard is refused after a stop only");
        w.turned_away.fetch_add(1);
        co_return;
    }
    const visitor busy(in.busy);
    bool stopped = false;
    if (how % 3 == 0) {
        auto got = co_await in.node.interrupt(w.letters.receive());
        stopped = !got;
        if (got && *got) {
            w.received.add(**got);
        }
    } else if (how % 3 == 1) {
        auto got = co_await in.node.interrupt(w.things.acquire("interruptible"));
        stopped = !got;
        if (got) {
            (*got ? w.things_used : w.things_refused).fetch_add(1);
        }
    } else {
        const auto got = co_await until_stop(in.node.observe(), never_ends(w));
        stopped = !got;
    }
    w.rules.must(!stopped || in.node.state() != shutdown_state::running, "a wait is interrupted by a stop only");
    w.interrupted.fetch_add(stopped ? 1 : 0);
}
inline task<> see_completion(world& w, department& of) {
    co_await of.node.completion();
    of.completed = true;
    w.rules.must(of.busy.load() == 0, "a completion waits for every guard");
    w.completions.fetch_add(1);
}

}  // namespace soak
