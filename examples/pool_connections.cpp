// A pool of connections shared by a few threads: acquire, use, break one, close.

#include <roost/pool/pool.hpp>

#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

struct connection {
    int id;
    int queries = 0;
};

}  // namespace

// begin pool
int main() {
    std::atomic<int> made{0};  // create may run on several threads at once
    roost::pool_options options(2, "db");
    roost::pool<connection> db(
        options, [&made] { return connection{made.fetch_add(1) + 1}; },
        [](connection& c) { std::printf("closing %d\n", c.id); });

    {
        auto first = db.acquire_blocking();
        auto second = db.acquire_blocking();
        ++first->queries;
        std::printf("using %d and %d, %u out\n", first->id, second->id, db.stats().out);
        for (const roost::observe::pool_holder& h : db.holders()) {
            std::printf("held by %s\n", h.to_string().c_str());
        }
        second.handle().discard();  // it broke
    }

    std::vector<std::thread> workers;
    for (int i = 0; i < 3; ++i) {
        workers.emplace_back([&db] {
            auto c = db.acquire_blocking();
            ++c->queries;
        });
    }
    for (std::thread& t : workers) {
        t.join();
    }
    const bool drained = db.close_blocking();
    std::printf("closed: %s\n", drained ? "all connections returned" : "a connection is still out");
    return drained ? 0 : 1;
}
// end pool
