// Every interleaving of take, put, cancel, destroy, failing creation and close.

#include <roost/testing/explore_gtest.hpp>

#include <roost/pool/pool.hpp>

#include "../sync/coroutines.hpp"
#include "../tree/model_node.hpp"

#include <optional>
#include <stdexcept>

namespace {

using roost::acquired;
using roost::plain;
using roost::pool;
using roost::pool_options;
using roost::thread;
using roost::testing::check;
using sync_testing::fire;
using sync_testing::owned;

pool_options small(std::uint32_t capacity, std::uint32_t stripes = 1) {
    pool_options o(capacity, "model");
    o.stripes = stripes;
    return o;
}

// A resource that a race would show in.
struct shared {
    roost::plain<int>* uses;
};

fire use(pool<shared>& p, plain<int>& served) {
    auto got = co_await p.acquire();
    if (got) {
        got->uses->set(got->uses->get() + 1);
        served.set(served.get() + 1);
    }
}

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

void expect_all_back(pool<shared>& p, const char* rule) {
    const roost::pool_stats s = p.stats();
    check(s.out == 0 && s.busy == 0 && s.waiting == 0 && s.free + s.idle == s.capacity, rule);
    check(s.idle == 0 || p.try_acquire(), "an idle resource can be taken: no waiter is imagined");
}

MODEL(pool_model, put_vs_take) {
    plain<int> uses{0};
    plain<int> mine{0};
    plain<int> theirs{0};
    pool<shared> p(small(1), [&] { return shared{&uses}; });
    thread other([&] { use(p, theirs); });
    use(p, mine);
    other.join();
    check(uses.get() == 2 && mine.get() == 1 && theirs.get() == 1, "POOL-16: one after the other, each served once");
    expect_all_back(p, "POOL-15");
}

// With a parent the unit of work comes and goes, by the other branches of the same operations.
MODEL(pool_model, put_vs_take_counted) {
    auto root = model_node::make_root(model_node::probe::quiet);
    plain<int> uses{0};
    plain<int> mine{0};
    plain<int> theirs{0};
    {
        pool_options o = small(1);
        o.parent = root.get();
        pool<shared> p(o, [&] { return shared{&uses}; });
        use(p, mine);
        thread other([&] { use(p, theirs); });
        use(p, mine);
        other.join();
        check(uses.get() == 3 && mine.get() == 2 && theirs.get() == 1,
              "everybody is served, and sees what the last one wrote");
        expect_all_back(p, "counted");
    }
}

MODEL(pool_model, put_vs_take_vs_cancel) {
    plain<int> uses{0};
    plain<int> behind{0};
    pool<shared> p(small(1), [&] { return shared{&uses}; });
    auto held = p.try_acquire_or_create();
    client first(p);
    use(p, behind);
    thread releaser([&] { held.handle().give_back(); });
    const bool cancelled = first.cancel();
    releaser.join();
    check(first.served() != cancelled, "POOL-18: cancelled or served, never both, never neither");
    check(behind.get() == 1, "POOL-18: the one behind is always served");
    expect_all_back(p, "POOL-15: nothing is lost");
}

// Two stripes with one place between them, the waiter on one and the resource on the other.
MODEL(pool_model, enqueue_vs_put_elsewhere) {
    plain<int> uses{0};
    plain<int> served{0};
    pool<shared> p(small(2, 2), [&] { return shared{&uses}; });
    auto a = p.try_acquire_or_create();
    auto b = p.try_acquire_or_create();
    thread waits([&] { use(p, served); });
    a.handle().give_back();
    waits.join();
    check(served.get() == 1, "POOL-23: whichever stripe it comes back to");
    b.handle().give_back();
    expect_all_back(p, "POOL-15");
}

MODEL(pool_model, destroy_vs_waiter) {
    plain<int> uses{0};
    plain<int> served{0};
    roost::atomic<int> made{0};
    pool<shared> p(small(1), [&] {
        made.fetch_add(1, roost::mo::relaxed);
        return shared{&uses};
    });
    auto held = p.try_acquire_or_create();
    thread waits([&] { use(p, served); });
    held.handle().discard();
    waits.join();
    check(served.get() == 1 && made.load(roost::mo::relaxed) == 2, "POOL-20: the right to create reaches the waiter");
    expect_all_back(p, "POOL-15");
}

MODEL(pool_model, create_failure_vs_waiter) {
    plain<int> uses{0};
    plain<int> served{0};
    roost::atomic<int> calls{0};
    pool<shared> p(small(1), [&] {
        if (calls.fetch_add(1, roost::mo::relaxed) == 0) {
            throw std::runtime_error("refused");
        }
        return shared{&uses};
    });
    plain<int> mine{0};
    thread other([&] { use(p, served); });
    use(p, mine);
    other.join();
    check(served.get() + mine.get() == 1, "POOL-21: one gets the error, the other the resource");
    expect_all_back(p, "POOL-15: the right to create moved on");
}

MODEL(pool_model, close_vs_acquire_vs_return) {
    plain<int> uses{0};
    roost::atomic<int> destroyed{0};
    plain<int> served{0};
    {
        pool<shared> p(
            small(1), [&] { return shared{&uses}; }, [&](shared&) { destroyed.fetch_add(1, roost::mo::relaxed); });
        std::optional<acquired<shared>> held(p.try_acquire_or_create());
        thread returns([&] { held.reset(); });
        thread acquires([&] { use(p, served); });
        check(p.close_blocking(), "POOL-42: it drains");
        check(destroyed.load(roost::mo::relaxed) == 1, "POOL-42: what was out is destroyed before close returns");
        returns.join();
        acquires.join();
    }
}

// The last handle comes back while the pool is being destroyed: whoever is last frees it.
MODEL(pool_model, close_vs_return) {
    plain<int> uses{0};
    roost::atomic<int> destroyed{0};
    std::optional<pool<shared>> p(
        std::in_place, small(1), [&] { return shared{&uses}; },
        [&](shared&) { destroyed.fetch_add(1, roost::mo::relaxed); });
    std::optional<acquired<shared>> held(p->try_acquire_or_create());
    thread returns([&] { held.reset(); });
    p.reset();
    returns.join();
    check(destroyed.load(roost::mo::relaxed) == 1, "POOL-43");
}

// Whoever has acquired is counted by the parent, also when two arrive and leave at once.
MODEL(pool_model, unit_is_visible) {
    plain<int> uses{0};
    auto root = model_node::make_root(model_node::probe::quiet);
    pool_options o = small(2);
    o.parent = root.get();
    {
        pool<shared> p(o, [&] { return shared{&uses}; });
        { auto warm = p.try_acquire_or_create(); }
        const auto visit = [&] {
            auto got = p.try_acquire_or_create();
            check(!got || root->has_work(), "POOL-40: out, and the parent does not know");
        };
        thread other(visit);
        visit();
        other.join();
        check(!root->has_work(), "POOL-40: everything is back");
    }
}

MODEL(pool_model, threads_hand_over) {
    plain<int> uses{0};
    pool<shared> p(small(1), [&] { return shared{&uses}; });
    const auto visit = [&] {
        auto got = p.acquire_blocking();
        got->uses->set(got->uses->get() + 1);
    };
    thread other(visit);
    visit();
    other.join();
    check(uses.get() == 2, "POOL-16");
    expect_all_back(p, "POOL-15");
}

MODEL(pool_model, thread_deadline_vs_put) {
    plain<int> uses{0};
    plain<int> served{0};
    pool<shared> p(small(1), [&] { return shared{&uses}; });
    std::optional<acquired<shared>> held(p.try_acquire_or_create());
    thread sleeper([&] { static_cast<void>(p.acquire_blocking(roost::now() + roost::duration(1))); });
    held.reset();
    use(p, served);
    sleeper.join();
    check(served.get() == 1, "POOL-18");
    expect_all_back(p, "POOL-15");
}

}  // namespace
