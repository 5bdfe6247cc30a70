#pragma once

// What models of the pool share.

#include <roost/testing/explore_gtest.hpp>

#include <roost/pool/pool.hpp>

#include "../sync/coroutines.hpp"
#include "../tree/model_node.hpp"

#include <cstdint>
#include <optional>
#include <utility>

namespace pool_modelling {

using roost::acquired;
using roost::pool;
using roost::pool_options;
using roost::seam::plain;
using roost::seam::thread;
using roost::testing::check;
using sync_testing::fire;
using sync_testing::hand_executor;
using sync_testing::hosted;
using sync_testing::owned;

inline pool_options small(std::uint32_t capacity, std::uint32_t stripes = 1) {
    pool_options o(capacity, "model");
    o.stripes = stripes;
    return o;
}

// A resource that a race would show in.
struct shared {
    roost::seam::plain<int>* uses;
};

inline fire use(pool<shared>& p, plain<int>& served) {
    auto got = co_await p.acquire();
    if (got) {
        got->uses->set(got->uses->get() + 1);
        served.set(served.get() + 1);
    }
}

// A pool, and the node above it that counts what is out.
struct counted {
    explicit counted(std::uint32_t capacity) : p(below(*root, capacity), [this] { return shared{&uses}; }) {}
    static pool_options below(roost::detail::node& parent, std::uint32_t capacity) {
        pool_options o = small(capacity);
        o.parent = parent;
        return o;
    }
    plain<int> uses{0};
    model_node::ref root = model_node::make_root(model_node::probe::quiet);
    pool<shared> p;
};

// A waiter whose operation the model can cancel.
class client {
public:
    explicit client(pool<shared>& from) : op_(from.acquire()) { coroutine_ = run(*this); }
    bool cancel() { return op_.try_cancel(); }
    [[nodiscard]] bool served() const { return served_.get() != 0; }

private:
    class by_reference {
    public:
        explicit by_reference(pool<shared>::operation& o) noexcept : op_(o) {}
        bool await_ready() { return op_.await_ready(); }
        bool await_suspend(std::coroutine_handle<owned::promise_type> h) noexcept { return op_.await_suspend(h); }
        acquired<shared> await_resume() { return op_.await_resume(); }

    private:
        pool<shared>::operation& op_;
    };
    static owned run(client& self) {
        auto got = co_await by_reference(self.op_);
        self.served_.set(got ? 1 : 2);
    }
    pool<shared>::operation op_;
    plain<int> served_{0};
    owned coroutine_;
};

// Time that a model sets, and timers that it fires. They fire under the lock, so disarm() waits for one that is firing.
class model_timers final : public roost::ext::timer_service {
public:
    roost::time_point now() noexcept override {
        return roost::time_point(roost::duration(now_.load(roost::seam::mo::relaxed)));
    }
    void set_now(std::int64_t t) noexcept { now_.store(t, roost::seam::mo::relaxed); }
    bool arm(roost::ext::timer& t) noexcept override {
        lock_.lock();
        t.next = std::exchange(first_, &t);
        t.state = 1;
        lock_.unlock();
        return true;
    }
    bool disarm(roost::ext::timer& t) noexcept override {
        lock_.lock();
        const bool was_armed = std::exchange(t.state, 0) == 1;
        if (was_armed) {
            roost::ext::timer** link = &first_;
            while (*link != &t) {
                link = &(*link)->next;
            }
            *link = t.next;
        }
        lock_.unlock();
        return was_armed;
    }
    // Whatever is armed, as if its deadline had passed.
    void fire_all() noexcept {
        lock_.lock();
        while (roost::ext::timer* t = first_) {
            first_ = t->next;
            t->state = 0;
            t->fire();
        }
        lock_.unlock();
    }

private:
    roost::seam::small_mutex lock_;
    roost::ext::timer* first_ = nullptr;
    roost::seam::atomic<std::int64_t> now_{1};
};

inline pool_options timed(std::uint32_t capacity, hand_executor& where, model_timers& timers) {
    pool_options o = small(capacity);
    o.where = where;
    o.timers = &timers;
    o.exact_clock = true;
    return o;
}

inline void expect_all_back(pool<shared>& p, const char* rule) {
    const roost::pool_stats s = p.stats();
    check(s.out == 0 && s.busy == 0 && s.waiting == 0 && s.free + s.idle == s.capacity, rule);
    check(s.idle == 0 || p.try_acquire(), "an idle resource can be taken: no waiter is imagined");
}

}  // namespace pool_modelling
