#include "shop.hpp"

#include <roost/base/failure_sink.hpp>
#include <roost/flow/supervise.hpp>
#include <roost/task/timeout.hpp>

#include <stdexcept>
#include <vector>

namespace demo {

using namespace roost;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t batch_size = 32;
constexpr unsigned most_attempts = 3;
constexpr unsigned batches_until_failure = 12;
constexpr int steady_workers = 3;

// Orders that a worker has taken. If it fails with them in hand, another worker gets them.
class batch {
public:
    explicit batch(shop& s) : shop_(&s) { orders_.reserve(batch_size); }
    batch(const batch&) = delete;
    batch& operator=(const batch&) = delete;
    ~batch() {
        for (order_ptr& o : orders_) {
            give_back(std::move(o));
        }
    }

    void add(order_ptr o) { orders_.push_back(std::move(o)); }
    [[nodiscard]] const std::vector<order_ptr>& orders() const noexcept { return orders_; }
    void settle(std::int64_t last_id) noexcept {
        std::int64_t id = last_id - static_cast<std::int64_t>(orders_.size());
        for (const order_ptr& o : orders_) {
            o->id = ++id;
            shop_->settle(*o, answer::stored);
        }
        orders_.clear();
    }

private:
    void give_back(order_ptr o) noexcept {
        order& mine = *o;
        if (++mine.attempts < most_attempts && (give_to(shop_->queue(), o) || give_to(shop_->returned(), o))) {
            return;
        }
        shop_->settle(*o, answer::failed);
    }
    static bool give_to(channel<order_ptr>& to, order_ptr& o) noexcept {
        sent<order_ptr> sent = to.try_send(std::move(o));
        if (!sent) {
            o = sent.take_back();
        }
        return static_cast<bool>(sent);
    }

    shop* shop_;
    std::vector<order_ptr> orders_;
};

// One statement, so all or none.
task<std::int64_t> store(shop& s, const batch& b) {
    auto connection = (co_await s.database().acquire("store orders")).value();
    std::string sql = "insert into orders (item, quantity) values ";
    std::vector<sqlite::value> values;
    for (const order_ptr& o : b.orders()) {
        sql += values.empty() ? "(?, ?)" : ", (?, ?)";
        values.push_back(sqlite::to_value(o->item));
        values.push_back(sqlite::to_value(o->quantity));
    }
    const sqlite::rows stored = co_await connection->query_values(std::move(sql), std::move(values));
    co_return stored.last_insert_id();
}

received<order_ptr> try_next(shop& s) {
    received<order_ptr> next = s.returned().try_receive();
    return next ? std::move(next) : s.queue().try_receive();
}

task<> work(shop* s, bool flaky) {
    for (unsigned batches = 1;; ++batches) {
        received<order_ptr> next = try_next(*s);
        if (!next) {
            next = co_await s->queue().receive();
        }
        if (!next) {
            next = try_next(*s);  // of a worker that failed after the first look
        }
        if (!next) {
            co_return;
        }
        batch mine(*s);
        for (; next; next = try_next(*s)) {
            mine.add(std::move(*next));
            if (mine.orders().size() == batch_size) {
                break;
            }
        }
        if (flaky && batches == batches_until_failure) {
            throw std::runtime_error("planted failure");
        }
        const std::int64_t last = co_await fail_after(5s, store(*s, mine));
        mine.settle(last);
    }
}

task<> launch_workers(supervisor& group, shop* s) {
    for (int i = 1; i <= steady_workers; ++i) {
        group.launch("worker " + std::to_string(i), work, s, false);
    }
    group.launch("flaky worker", work, s, true);
    co_return;
}

pool_options database_options(executor_ref where) {
    pool_options made(4, "database");
    made.where = where;
    made.timers = where->timers();
    return made;
}

sqlite::open_options open_options() {
    sqlite::open_options made;
    made.on_open = "pragma synchronous = off";
    return made;
}

}  // namespace

std::string prepare(const std::string& database) {
    try {
        sqlite::connection first = sqlite::connection::open(database, open_options());
        first.query_blocking("create table if not exists orders (id integer primary key, item text, quantity integer)");
        first.query_blocking("pragma user_version = 1");  // also when the table is there: is the journal's folder writable?
        return {};
    } catch (const std::exception& e) {
        return e.what();
    }
}

shop::shop(const std::string& database, executor_ref where, service::host& h)
    : host_(h), database_(sqlite::make_pool(database, database_options(where), open_options())) {}

void shop::settle(order& o, answer how) noexcept {
    o.result.store(how, std::memory_order_release);
    counts.took.record(now() - o.since);
    switch (how) {
        case answer::stored: o.entry.complete(); break;
        case answer::cancelled: o.entry.cancel(); break;
        default: o.entry.fail(); break;
    }
    o.done.set();
}

namespace {

task<bool> enqueue(channel<order_ptr>& queue, order_ptr o) {
    sent<order_ptr> sent = co_await queue.send_from(o);
    co_return static_cast<bool>(sent);
}

}  // namespace

task<answer> shop::place(order_ptr o) {
    const std::optional<bool> queued = co_await move_on_after(2s, enqueue(queue_, o));
    if (!queued || !*queued) {
        counts.refused.add();
        settle(*o, answer::failed);
        co_return answer::open;
    }
    co_await o->done.wait();
    co_return o->result.load(std::memory_order_acquire);
}

task<> shop::stop_taking() {
    queue_.close();
    co_return;
}

task<> shop::release() {
    queue_.close();
    for (received<order_ptr> left = try_next(*this); left; left = try_next(*this)) {
        settle(**left, answer::cancelled);
    }
    co_await database_.close();
}

task<> shop::run_workers() {
    const auto restart = on_failure::ask([this](const child_failure& f) {
        counts.worker_failures.add();
        const auto n = counts.worker_failures.value();
        if (n <= 5) {
            host_.log("demo: " + f.name() + " failed (" + describe(f.error()) +
                      ") and will be restarted, its orders go back" + (n == 5 ? "; further failures are only counted" : ""));
        }
        return on_failure::restart(backoff(20ms).longest(500ms).jitter(0.5), 1'000'000, 100ms);
    });
    const auto ended = co_await supervise(restart, launch_workers, this);
    static_cast<void>(ended);
}

}  // namespace demo
