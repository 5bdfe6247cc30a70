// A unit of work on a pooled connection: committed, or the connection is gone.

#include <roost/adapters/detail/transaction.hpp>
#include <roost/pool/pool.hpp>
#include <roost/runtime/run.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace roost;

struct log {
    std::vector<std::string> said;
    int destroyed = 0;
    std::string refuses;
};

class connection {
public:
    explicit connection(log& to) noexcept : log_(&to) {}
    task<int> query(const char* sql) {
        if (log_->refuses == sql) {
            throw std::runtime_error(sql);
        }
        log_->said.emplace_back(sql);
        co_return 0;
    }
    task<int> begin() { return query("begin"); }
    task<int> commit() { return query("commit"); }

private:
    log* log_;
};

class transaction : public testing::Test {
protected:
    using connections = pool<connection>;
    template <class Fn>
    void run(Fn fn) {
        connections p(
            pool_options(1, "connections"), [this] { return connection(l); }, [this](connection&) { ++l.destroyed; });
        block_on(rt, use(&p, std::move(fn)));
        destroyed_at_once = l.destroyed;
    }
    template <class Fn>
    static task<void> use(connections* p, Fn fn) {
        auto got = co_await p->acquire();
        pooled<connection> c = std::move(got).value();
        co_await detail::in_transaction(c, std::move(fn));
    }
    runtime rt{runtime_options().workers(1)};
    log l;
    int destroyed_at_once = 0;
};

task<void> insert(connection& c) { static_cast<void>(co_await c.query("insert")); }
task<int> count(connection& c) {
    static_cast<void>(co_await c.query("count"));
    co_return 7;
}
task<void> fail(connection& c) {
    static_cast<void>(co_await c.query("insert"));
    throw std::logic_error("no");
}

TEST_F(transaction, POOL_53_commits_and_keeps_the_connection) {
    run(insert);
    EXPECT_EQ(l.said, (std::vector<std::string>{"begin", "insert", "commit"}));
    EXPECT_EQ(destroyed_at_once, 0);
    run(count);
    EXPECT_EQ(l.said.size(), 6U);
}

TEST_F(transaction, POOL_53_what_fails_costs_the_connection) {
    EXPECT_THROW(run(fail), std::logic_error);
    EXPECT_EQ(l.said, (std::vector<std::string>{"begin", "insert"}));
    EXPECT_EQ(l.destroyed, 1);
}

TEST_F(transaction, POOL_53_a_commit_that_fails_costs_the_connection) {
    l.refuses = "commit";
    EXPECT_THROW(run(insert), std::runtime_error);
    EXPECT_EQ(l.said, (std::vector<std::string>{"begin", "insert"}));
    EXPECT_EQ(l.destroyed, 1);
}

}  // namespace
