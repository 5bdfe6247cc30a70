#pragma once

// What pool tests share: resources that count themselves, creations that fail or wait on command, and coroutines.

#include <roost/base/atomic.hpp>
#include <roost/pool/pool.hpp>
#include <roost/sync/event.hpp>

#include <gtest/gtest.h>

#include "../sync/coroutines.hpp"
#include "../sync/held_operation.hpp"

#include <optional>
#include <stdexcept>
#include <utility>

namespace pool_testing {

using sync_testing::fire;
using sync_testing::hand_executor;
using sync_testing::hosted;
using sync_testing::owned;

// Everything a factory has made, counted. Not thread safe unless T is atomic.
struct ledger {
    int made = 0;
    int destroyed = 0;
    int fail_next = 0;  // so many creations throw
    int most_alive = 0;
    [[nodiscard]] int alive() const { return made - destroyed; }
};

struct thing {
    explicit thing(int i = 0) noexcept : id(i) {}
    int id;
    bool healthy = true;
};

inline auto factory(ledger& l) {
    return [&l] {
        if (l.fail_next > 0) {
            --l.fail_next;
            throw std::runtime_error("connection refused");
        }
        ++l.made;
        l.most_alive = l.alive() > l.most_alive ? l.alive() : l.most_alive;
        return thing(l.made);
    };
}
inline auto undertaker(ledger& l) {
    return [&l](thing&) { ++l.destroyed; };
}

inline roost::pool<thing> make_pool(ledger& l, roost::pool_options options) {
    return roost::pool<thing>(std::move(options), factory(l), undertaker(l));
}
template <class R>
roost::detail::pool_core& core_of(roost::pool<R>& p) {
    return roost::detail::pool_access::core_of(p);
}
inline roost::pool_options one_stripe(std::uint32_t capacity) {
    roost::pool_options o(capacity, "test pool");
    o.stripes = 1;
    return o;
}

// A coroutine that acquires and keeps what it got until the test lets go. The test can reach the operation.
class client {
public:
    explicit client(roost::pool<thing>& from) : op_(from.acquire("client")) { coroutine_ = run(*this); }
    client(const client&) = delete;
    client& operator=(const client&) = delete;

    [[nodiscard]] bool done() const { return got_.has_value(); }
    [[nodiscard]] roost::acquired<thing>& got() { return *got_; }
    bool cancel() { return op_.try_cancel(); }
    void let_go() { got_.reset(); }
    void discard() { got_->handle().discard(); }
    roost::pool<thing>::operation& operation() { return op_; }

private:
    class by_reference {
    public:
        explicit by_reference(roost::pool<thing>::operation& o) noexcept : op_(o) {}
        bool await_ready() { return op_.await_ready(); }
        bool await_suspend(std::coroutine_handle<owned::promise_type> h) noexcept { return op_.await_suspend(h); }
        roost::acquired<thing> await_resume() { return op_.await_resume(); }

    private:
        roost::pool<thing>::operation& op_;
    };
    static owned run(client& self) { self.got_.emplace(co_await by_reference(self.op_)); }

    roost::pool<thing>::operation op_;
    std::optional<roost::acquired<thing>> got_;
    owned coroutine_;
};

inline void expect_conserved(roost::pool<thing>& p, const ledger& l) {
    const roost::pool_stats s = p.stats();
    if (s.free + s.idle + s.out + s.busy != s.capacity + s.over || static_cast<int>(s.idle + s.out) != l.alive()) {
        ADD_FAILURE() << "not conserved: free " << s.free << " idle " << s.idle << " out " << s.out << " busy " << s.busy
                      << " capacity " << s.capacity << " over " << s.over << " alive " << l.alive();
    }
}

}  // namespace pool_testing
