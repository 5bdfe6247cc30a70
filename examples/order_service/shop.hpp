#pragma once

// Orders, the queue they wait in, and the workers that store them.

#include <roost/adapters/sqlite/connection.hpp>
#include <roost/observe/metrics.hpp>
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
    roost::time_point since = roost::now();
    roost::event done{"order"};
};
using order_ptr = std::shared_ptr<order>;

// What the service counts, for /metrics and for its own last words.
struct counters {
    using counter = roost::metrics::counter;
    using gauge = roost::metrics::gauge;

    counter requests{"demo_requests_total", "Requests read."};
    counter answered{"demo_answers_total", "Responses that were sent completely."};
    counter unanswered{"demo_answers_lost_total", "Requests whose response could not be sent."};
    counter refused{"demo_queue_refused_total", "Orders that found the queue full: 503."};
    counter bad{"demo_requests_bad_total", "Requests that were not read: too large, too slow, no HTTP: 4xx."};
    counter late{"demo_orders_late_total", "Orders that were not stored when the client was answered: 504."};
    counter spoilt{"demo_orders_spoilt_total", "Orders that could not be stored: 500."};
    counter worker_failures{"demo_worker_failures_total", "Failures of workers, which were restarted."};
    gauge connections{"demo_connections", "Open connections."};
    gauge in_flight{"demo_requests_in_flight", "Requests being answered."};
    roost::metrics::histogram took{"demo_order_seconds", "From an order to its settlement."};
    std::atomic<bool> open{true};  // the door: new connections are taken
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
    roost::metrics::collector depth_ = roost::metrics::observe_depth(queue_, "orders");
    roost::pool<roost::sqlite::connection> database_;
};

}  // namespace demo
