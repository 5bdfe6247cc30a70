#pragma once

// Orders, the queue they wait in, and the workers that store them.

#include <roost/adapters/sqlite/connection.hpp>
#include <roost/pool/pool.hpp>
#include <roost/service/service.hpp>
#include <roost/sync/channel.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/task.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace demo {

enum class answer : int { open, stored, failed, cancelled };

// One order on its way from the request to the database. Settled once, by the worker that takes it out of the queue.
struct order {
    std::string item;
    std::int64_t quantity = 0;
    roost::service::ledger::entry entry;
    unsigned attempts = 0;
    std::int64_t id = 0;
    std::atomic<answer> result{answer::open};
    roost::event done{"order"};
};
using order_ptr = std::shared_ptr<order>;

struct counters {
    std::atomic<std::uint64_t> requests{0};
    std::atomic<std::uint64_t> answered{0};       // responses that were sent completely
    std::atomic<std::uint64_t> unanswered{0};     // requests whose response could not be sent
    std::atomic<std::uint64_t> refused{0};        // orders that found the queue full: 503
    std::atomic<std::uint64_t> bad{0};            // requests that were not read: too large, too slow, no HTTP: 4xx
    std::atomic<std::uint64_t> late{0};           // orders that were not stored when the client was answered: 504
    std::atomic<std::uint64_t> spoilt{0};         // orders that could not be stored: 500
    std::atomic<std::uint64_t> worker_failures{0};
    std::atomic<std::int64_t> connections{0};
    std::atomic<bool> open{true};                 // the door: new connections are taken
    std::atomic<std::int64_t> in_flight{0};       // requests being answered
};

// Makes the table, if it is not there, and writes something. Empty, or why that is not possible.
[[nodiscard]] std::string prepare(const std::string& database);

class shop {
public:
    // Of a database that is prepared.
    shop(const std::string& database, roost::executor_ref where, roost::service::host& host);

    // Waits for a place in the queue, then until the order is settled. answer::open: the queue stayed full.
    [[nodiscard]] roost::task<answer> place(order_ptr o);
    // The supervised group, as one job. Ends when close() was called and the queue is empty.
    [[nodiscard]] roost::task<> run_workers();
    // When sessions are gone: the workers finish what is queued, and end.
    [[nodiscard]] roost::task<> stop_taking();
    // When the workers are gone, too: settles what a cancelled worker left behind, and closes the database.
    [[nodiscard]] roost::task<> release();

    void settle(order& o, answer how) noexcept;

    counters counts;
    // During shutdown: how long a client that has not been told to go may take to send its next request.
    roost::duration patience = std::chrono::seconds(2);
    roost::channel<order_ptr>& queue() noexcept { return queue_; }
    // What failed workers had in hand when the queue was full; taken first. Has room for all that workers can hold.
    roost::channel<order_ptr>& returned() noexcept { return returned_; }
    roost::pool<roost::sqlite::connection>& database() noexcept { return database_; }
    roost::service::host& host() noexcept { return host_; }

private:
    roost::service::host& host_;
    roost::channel<order_ptr> queue_{256, "orders"};
    roost::channel<order_ptr> returned_{256, "returned orders"};
    roost::pool<roost::sqlite::connection> database_;
};

}  // namespace demo
