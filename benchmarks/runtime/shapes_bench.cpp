// The shapes services are made of: starting and awaiting a few, asking an actor, handling requests, publishing. What each
// shape is, for every subject that is measured: benchmarks/README.md.
#include "../harness/harness.hpp"

#include <roost/flow/when_all.hpp>
#include <roost/observe/built_in.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/sync/broadcast.hpp>
#include <roost/sync/channel.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/semaphore.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/this_task.hpp>

#include <deque>
#include <vector>

using roost::scope;
using roost::task;

namespace {

template <class Make>
bench::sample run_on(bench::budget b, unsigned workers, double per, Make make) {
    roost::runtime threads(roost::runtime_options().workers(workers));
    auto const s = bench::per_op(b, [&](std::uint64_t n) { roost::block_on(threads, make(n)); });
    return {s.value / per, static_cast<std::uint64_t>(static_cast<double>(s.ops) * per)};
}

// Starting one.

task<int> one() { co_return 1; }

task<> start_immediate_in(scope& s, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        auto child = s.async("child", one(), roost::start::immediate);
        bench::keep(co_await std::move(child));
    }
}
task<> start_immediate(std::uint64_t n) { co_await roost::with_scope(start_immediate_in, n); }

task<int> middle() {
    int const got = co_await one();
    co_return got + 1;
}
task<int> outer() {
    int const got = co_await middle();
    co_return got + 1;
}
task<> chain(std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        bench::keep(co_await outer());
    }
}

// `count` at once, and all their results.
task<> concurrent(int count, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        std::vector<task<int>> all;
        all.reserve(static_cast<std::size_t>(count));
        for (int k = 0; k < count; ++k) all.push_back(one());
        auto const results = co_await roost::when_all(std::move(all));
        int sum = 0;
        for (int const result : results) sum += result;
        bench::keep(sum);
    }
}

bench::sample concurrently(bench::budget b, int count) {
    return run_on(b, 1, count, [count](std::uint64_t n) { return concurrent(count, n); });
}

// Each with a handle of its own, awaited in turn.
task<> handles_in(scope& s, int count, std::uint64_t n) {
    std::vector<roost::deferred<int>> all;
    all.reserve(static_cast<std::size_t>(count));
    for (std::uint64_t i = 0; i < n; ++i) {
        for (int k = 0; k < count; ++k) all.push_back(s.async("child", one()));
        int sum = 0;
        for (auto& child : all) {
            sum += co_await std::move(child);
        }
        bench::keep(sum);
        all.clear();
    }
}

task<> with_handles(int count, std::uint64_t n) { co_await roost::with_scope(handles_in, count, n); }

bench::sample handles(bench::budget b, int count) {
    return run_on(b, 1, count, [count](std::uint64_t n) { return with_handles(count, n); });
}

// An actor: it receives requests and answers them, one after the other.
struct request {
    explicit request(std::uint64_t v) : value(v) {}
    std::uint64_t value;
    std::uint64_t answer = 0;
    roost::event answered;
};
using mailbox = roost::channel<request*>;

task<> actor(mailbox& requests) {
    for (;;) {
        auto got = co_await requests.receive();
        if (!got) {
            co_return;
        }
        request& r = **got;
        r.answer = r.value + 1;
        r.answered.set();
    }
}

task<std::uint64_t> ask(mailbox& to, std::uint64_t value) {
    request r(value);
    auto const sent = co_await to.send(&r);
    co_await r.answered.wait();
    co_return r.answer;
}

task<> client(mailbox& to, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        auto const answer = co_await ask(to, i);
        if (answer != i + 1) std::abort();
    }
}

task<> clients(scope& s, mailbox* to, int count, std::uint64_t n) {
    for (int k = 0; k < count; ++k) s.launch("client", client(*to, n));
    co_return;
}

task<> ask_in(scope& s, mailbox* requests, int count, std::uint64_t n) {
    s.launch("actor", actor(*requests));
    co_await roost::with_scope(clients, requests, count, n);
    requests->close();
}

task<> asking(int count, std::uint64_t n) {
    mailbox requests(64);
    co_await roost::with_scope(ask_in, &requests, count, n);
}

bench::sample asks(bench::budget b, int count) {
    return run_on(b, 1, count, [count](std::uint64_t n) { return asking(count, n); });
}

// A request: authenticate, ask the database, reply. `count` at a time, each a job.
task<bool> authenticate(std::uint64_t user) { co_return user != ~std::uint64_t{0}; }

task<std::uint64_t> handle(mailbox& database, std::uint64_t user) {
    bool const is_known = co_await authenticate(user);
    if (!is_known) {
        co_return 0;
    }
    std::uint64_t const row = co_await ask(database, user);
    co_return row + 1;
}

task<> wave(scope& s, mailbox* database, int count) {
    for (int k = 0; k < count; ++k) s.launch("request", handle(*database, static_cast<std::uint64_t>(k)));
    co_return;
}

task<> http_in(scope& s, mailbox* database, int count, std::uint64_t n) {
    s.launch("database", actor(*database));
    for (std::uint64_t i = 0; i < n; ++i) {
        co_await roost::with_scope(wave, database, count);
    }
    database->close();
}

task<> http(int count, std::uint64_t n) {
    mailbox database(64);
    co_await roost::with_scope(http_in, &database, count, n);
}

bench::sample requests(bench::budget b, int count, unsigned workers = 1) {
    return run_on(b, workers, count, [count](std::uint64_t n) { return http(count, n); });
}

// Publishers send ten messages each; every subscriber receives all of them. Per delivery.
constexpr int messages = 10;
using stream = roost::broadcast<std::uint64_t>;

task<> subscribe(stream::subscriber& mine, int expected) {
    std::uint64_t sum = 0;
    for (int i = 0; i < expected; ++i) {
        auto got = co_await mine.receive();
        sum += *got;
    }
    bench::keep(sum);
}

task<> publish(stream& to) {
    for (int i = 0; i < messages; ++i) {
        to.send(1);
        co_await roost::yield();
    }
}

// Publishers and subscribers are spread over the topics in turn.
struct topic {
    stream news{1024};
    std::deque<stream::subscriber> subscribers;
    int publishers = 0;
};

task<> pubsub_wave(scope& s, std::deque<topic>* topics) {
    for (topic& t : *topics) {
        for (auto& mine : t.subscribers) s.launch("subscriber", subscribe(mine, t.publishers * messages));
    }
    for (topic& t : *topics) {
        for (int k = 0; k < t.publishers; ++k) s.launch("publisher", publish(t.news));
    }
    co_return;
}

task<> pubsub(int publishers, int subscribers, int count, std::uint64_t n) {
    std::deque<topic> topics(static_cast<std::size_t>(count));
    for (int k = 0; k < publishers; ++k) ++topics[static_cast<std::size_t>(k % count)].publishers;
    for (std::uint64_t i = 0; i < n; ++i) {
        for (int k = 0; k < subscribers; ++k) {
            topic& t = topics[static_cast<std::size_t>(k % count)];
            t.subscribers.emplace_back(t.news);
        }
        co_await roost::with_scope(pubsub_wave, &topics);
        for (topic& t : topics) t.subscribers.clear();
    }
}

bench::sample deliveries(bench::budget b, int publishers, int subscribers, int topics = 1) {
    return run_on(b, 1, publishers * subscribers / topics * messages,
                  [=](std::uint64_t n) { return pubsub(publishers, subscribers, topics, n); });
}

// `count` jobs share four permits and yield while they hold one. Per acquire.
task<> hold_repeatedly(roost::semaphore& permits, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        auto const held = co_await permits.acquire();
        co_await roost::yield();
    }
}

task<> contend_in(scope& s, roost::semaphore* permits, int count, std::uint64_t n) {
    for (int k = 0; k < count; ++k) s.launch("holder", hold_repeatedly(*permits, n));
    co_return;
}

task<> contend(int count, std::uint64_t n) {
    roost::semaphore permits(4);
    co_await roost::with_scope(contend_in, &permits, count, n);
}

bench::sample contended(bench::budget b, int count, unsigned workers = 1) {
    return run_on(b, workers, count, [count](std::uint64_t n) { return contend(count, n); });
}

} // namespace

BENCH_OURS("jobs/start_immediate") { return run_on(b, 1, 1, start_immediate); }
BENCH_OURS("task/chain") { return run_on(b, 1, 1, chain); }
BENCH_OURS("jobs/concurrent_1") { return concurrently(b, 1); }
BENCH_OURS("jobs/concurrent_2") { return concurrently(b, 2); }
BENCH_OURS("jobs/concurrent_4") { return concurrently(b, 4); }
BENCH_OURS("jobs/concurrent_8") { return concurrently(b, 8); }
BENCH_OURS("jobs/concurrent_16") { return concurrently(b, 16); }
BENCH_OURS("jobs/concurrent_32") { return concurrently(b, 32); }
BENCH_OURS("jobs/concurrent_64") { return concurrently(b, 64); }
BENCH_OURS("jobs/handles_64") { return handles(b, 64); }
BENCH_OURS("jobs/ask_1") { return asks(b, 1); }
BENCH_OURS("jobs/ask_10") { return asks(b, 10); }
BENCH_OURS("jobs/ask_100") { return asks(b, 100); }
BENCH_OURS("jobs/http_1") { return requests(b, 1); }
BENCH_OURS("jobs/http_10") { return requests(b, 10); }
BENCH_OURS("jobs/http_100") { return requests(b, 100); }
BENCH_OURS("jobs/http_1000") { return requests(b, 1000); }
BENCH_OURS("jobs/http_1000_2t") { return requests(b, 1000, 2); }
BENCH_OURS("observe/http_off") { return requests(b, 100); }
BENCH_OURS("observe/http_counters") {
    roost::metrics::enable();
    return requests(b, 100);
}
BENCH_OURS("jobs/pubsub_1x10") { return deliveries(b, 1, 10); }
BENCH_OURS("jobs/pubsub_10x10") { return deliveries(b, 10, 10); }
BENCH_OURS("jobs/pubsub_10x100") { return deliveries(b, 10, 100); }
BENCH_OURS("jobs/pubsub_100x100") { return deliveries(b, 100, 100); }
BENCH_OURS("jobs/pubsub_10x100x4") { return deliveries(b, 10, 100, 4); }
BENCH_OURS("jobs/pubsub_100x100x4") { return deliveries(b, 100, 100, 4); }
BENCH_OURS("sync/semaphore_tasks_2") { return contended(b, 2); }
BENCH_OURS("sync/semaphore_tasks_4") { return contended(b, 4); }
BENCH_OURS("sync/semaphore_tasks_8") { return contended(b, 8); }
BENCH_OURS("sync/semaphore_tasks_16") { return contended(b, 16); }
BENCH_OURS("sync/semaphore_tasks_32") { return contended(b, 32); }
BENCH_OURS("sync/semaphore_tasks_64") { return contended(b, 64); }
BENCH_OURS("sync/semaphore_tasks_64_2t") { return contended(b, 64, 2); }
