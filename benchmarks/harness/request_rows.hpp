// An actor, and requests that ask it: the rows jobs/ask and jobs/http, and others that run the same work.
#pragma once

#include "harness.hpp"

#include <roost/runtime/runtime.hpp>
#include <roost/sync/channel.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/scope.hpp>

#include <cstdint>

namespace rows {

using roost::scope;
using roost::task;

template <class Make>
bench::sample run_on(bench::budget b, unsigned workers, double per, Make make) {
    roost::runtime threads(roost::runtime_options().workers(workers));
    auto const s = bench::per_op(b, [&](std::uint64_t n) { roost::block_on(threads, make(n)); });
    return {s.value / per, static_cast<std::uint64_t>(static_cast<double>(s.ops) * per)};
}

// An actor: it receives requests and answers them, one after the other.
struct request {
    explicit request(std::uint64_t v) : value(v) {}
    std::uint64_t value;
    std::uint64_t answer = 0;
    roost::event answered;
};
using mailbox = roost::channel<request*>;

inline task<> actor(mailbox& requests) {
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

inline task<std::uint64_t> ask(mailbox& to, std::uint64_t value) {
    request r(value);
    auto const sent = co_await to.send(&r);
    co_await r.answered.wait();
    co_return r.answer;
}

// A request: authenticate, ask the database, reply. `count` at a time, each a job.
inline task<bool> authenticate(std::uint64_t user) { co_return user != ~std::uint64_t{0}; }

inline task<std::uint64_t> handle(mailbox& database, std::uint64_t user) {
    bool const is_known = co_await authenticate(user);
    if (!is_known) {
        co_return 0;
    }
    std::uint64_t const row = co_await ask(database, user);
    co_return row + 1;
}

inline task<> wave(scope& s, mailbox* database, int count) {
    for (int k = 0; k < count; ++k) s.launch("request", handle(*database, static_cast<std::uint64_t>(k)));
    co_return;
}

inline task<> http_in(scope& s, mailbox* database, int count, std::uint64_t n) {
    s.launch("database", actor(*database));
    for (std::uint64_t i = 0; i < n; ++i) {
        co_await roost::with_scope(wave, database, count);
    }
    database->close();
}

inline task<> http(int count, std::uint64_t n) {
    mailbox database(64);
    co_await roost::with_scope(http_in, &database, count, n);
}

inline bench::sample requests(bench::budget b, int count, unsigned workers = 1) {
    return run_on(b, workers, count, [count](std::uint64_t n) { return http(count, n); });
}

}  // namespace rows
