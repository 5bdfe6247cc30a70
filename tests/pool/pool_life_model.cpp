// Every interleaving of closing, of the unit of work, and of threads that wait, with take and put.

#include "model_support.hpp"

namespace {

using namespace pool_modelling;

fire close(pool<shared>& p, plain<int>& closed) {
    static_cast<void>(co_await p.close());
    closed.set(1);
}

// An acquire during the close takes an idle resource, or is refused; the close waits for a resource that was taken.
MODEL(pool_life_model, close_vs_take) {
    plain<int> uses{0};
    plain<int> closed{0};
    plain<int> destroyed{0};
    pool<shared> p(small(1), [&] { return shared{&uses}; }, [&](shared&) { destroyed.set(destroyed.get() + 1); });
    { auto warm = p.try_acquire_or_create(); }
    std::optional<acquired<shared>> taken;
    thread takes([&] { taken.emplace(p.try_acquire()); });
    close(p, closed);
    takes.join();
    check(destroyed.get() == (*taken ? 0 : 1) && closed.get() == (*taken ? 0 : 1), "POOL-42: what is out is not destroyed");
    taken.reset();
    check(closed.get() == 1 && destroyed.get() == 1, "POOL-42: and when it is back, it is");
}

fire hear(pool<shared>& p, plain<int>& refused) {
    const auto got = co_await p.acquire();
    refused.set(!got && got.status() == roost::wait_status::closed ? 1 : 2);
}

// A waiter enqueued during the close is refused: by the close, or because it sees the close.
MODEL(pool_life_model, close_vs_enqueue) {
    plain<int> uses{0};
    plain<int> refused{0};
    plain<int> closed{0};
    pool<shared> p(small(1), [&] { return shared{&uses}; });
    auto held = p.try_acquire_or_create();
    thread acquires([&] { hear(p, refused); });
    close(p, closed);
    acquires.join();
    check(refused.get() == 1 && closed.get() == 0, "POOL-42: refused at once, and the close waits for what is out");
    held.handle().give_back();
    check(closed.get() == 1, "POOL-42: it drains");
}

MODEL(pool_life_model, close_vs_acquire) {
    plain<int> uses{0};
    roost::seam::atomic<int> made{0};
    roost::seam::atomic<int> destroyed{0};
    plain<int> served{0};
    {
        pool<shared> p(
            small(1),
            [&] {
                made.fetch_add(1, roost::seam::mo::relaxed);
                return shared{&uses};
            },
            [&](shared&) { destroyed.fetch_add(1, roost::seam::mo::relaxed); });
        thread acquires([&] { use(p, served); });
        check(p.close_blocking(), "POOL-42: it drains");
        acquires.join();
    }
    check(made.load(roost::seam::mo::relaxed) == served.get() && destroyed.load(roost::seam::mo::relaxed) == served.get(),
          "POOL-42: whatever was made is destroyed");
}

MODEL(pool_life_model, close_vs_last_return) {
    plain<int> uses{0};
    roost::seam::atomic<int> destroyed{0};
    pool<shared> p(
        small(1), [&] { return shared{&uses}; }, [&](shared&) { destroyed.fetch_add(1, roost::seam::mo::relaxed); });
    std::optional<acquired<shared>> held(p.try_acquire_or_create());
    thread returns([&] { held.reset(); });
    check(p.close_blocking(), "POOL-42: it drains");
    check(destroyed.load(roost::seam::mo::relaxed) == 1, "POOL-42: what was out is destroyed before close returns");
    returns.join();
}

// A waiter that the return serves, the close refuses, or neither has to.
MODEL(pool_life_model, close_vs_waiter_vs_return) {
    plain<int> uses{0};
    plain<int> served{0};
    std::optional<pool<shared>> p(std::in_place, small(1), [&] { return shared{&uses}; });
    std::optional<acquired<shared>> held(p->try_acquire_or_create());
    use(*p, served);
    thread returns([&] { held.reset(); });
    p.reset();
    returns.join();
}

// Part of a pool's create function, so it goes when the pool's memory goes.
class last_breath {
public:
    explicit last_breath(plain<int>& gone) noexcept : gone_(&gone) {}
    last_breath(last_breath&& other) noexcept : gone_(std::exchange(other.gone_, nullptr)) {}
    ~last_breath() {
        if (gone_ != nullptr) {
            gone_->set(1);
        }
    }

private:
    plain<int>* gone_;
};

hosted wait_elsewhere(roost::executor&, pool<shared>& p, plain<int>& gone, plain<int>& told) {
    auto op = p.acquire();
    const auto got = co_await op;
    check(gone.get() == 0, "POOL-81: the error is made by a pool that is there");
    told.set(got || got.status() == roost::wait_status::closed ? 1 : 2);
}

// The same with a waiter that is resumed elsewhere: the pool may be gone by then.
MODEL(pool_life_model, close_vs_return_vs_waiter_that_runs_late) {
    plain<int> uses{0};
    plain<int> told{0};
    plain<int> gone{0};
    hand_executor where;
    std::optional<pool<shared>> p(std::in_place, small(1), [&, breath = last_breath(gone)] { return shared{&uses}; });
    std::optional<acquired<shared>> held(p->try_acquire_or_create());
    const hosted waits = wait_elsewhere(where, *p, gone, told);
    thread returns([&] { held.reset(); });
    p.reset();
    where.run();
    returns.join();
    where.run();
    check(told.get() == 1, "POOL-81: served, or told that it is closed");
}

MODEL(pool_life_model, close_vs_acquire_vs_return) {
    plain<int> uses{0};
    roost::seam::atomic<int> destroyed{0};
    plain<int> served{0};
    {
        pool<shared> p(
            small(1), [&] { return shared{&uses}; }, [&](shared&) { destroyed.fetch_add(1, roost::seam::mo::relaxed); });
        std::optional<acquired<shared>> held(p.try_acquire_or_create());
        thread returns([&] { held.reset(); });
        thread acquires([&] { use(p, served); });
        check(p.close_blocking(), "POOL-42: it drains");
        check(destroyed.load(roost::seam::mo::relaxed) == 1, "POOL-42: what was out is destroyed before close returns");
        returns.join();
        acquires.join();
    }
}

// The last handle comes back while the pool is being destroyed: the last of the two frees it.
MODEL(pool_life_model, close_vs_return) {
    plain<int> uses{0};
    roost::seam::atomic<int> destroyed{0};
    std::optional<pool<shared>> p(
        std::in_place, small(1), [&] { return shared{&uses}; },
        [&](shared&) { destroyed.fetch_add(1, roost::seam::mo::relaxed); });
    std::optional<acquired<shared>> held(p->try_acquire_or_create());
    thread returns([&] { held.reset(); });
    p.reset();
    returns.join();
    check(destroyed.load(roost::seam::mo::relaxed) == 1, "POOL-43");
}

// The parent counts every acquired resource, also when two arrive and leave at once.
MODEL(pool_life_model, unit_is_visible) {
    counted c(2);
    { auto warm = c.p.try_acquire_or_create(); }
    const auto visit = [&] {
        auto got = c.p.try_acquire_or_create();
        check(!got || c.root->has_work(), "POOL-40: out, and the parent does not know");
    };
    thread other(visit);
    visit();
    other.join();
    check(!c.root->has_work(), "POOL-40: everything is back");
}

// The unit of work alone: two that find something idle, and no unit there.
MODEL(pool_life_model, unit_of_two_takers) {
    counted c(2);
    {
        auto a = c.p.try_acquire_or_create();
        auto b = c.p.try_acquire_or_create();
    }
    auto take = [&] {
        auto got = c.p.try_acquire();
        check(got && c.root->has_work(), "POOL-40: out, and the parent does not know");
        return got;
    };
    std::optional<acquired<shared>> theirs;
    thread other([&] { theirs.emplace(take()); });
    {
        auto mine = take();
        other.join();
    }
    check(c.root->has_work(), "POOL-40: one is still out");
    theirs.reset();
    check(!c.root->has_work(), "POOL-40: everything is back");
}

MODEL(pool_life_model, thread_waits_for_put) {
    plain<int> uses{0};
    pool<shared> p(small(1), [&] { return shared{&uses}; });
    auto held = p.try_acquire_or_create();
    thread other([&] {
        auto got = p.acquire_blocking();
        check(got->uses->get() == 1, "POOL-16");
    });
    held->uses->set(1);
    held.handle().give_back();
    other.join();
    expect_all_back(p, "POOL-15");
}

MODEL(pool_life_model, thread_expires_vs_put) {
    plain<int> uses{0};
    pool<shared> p(small(1), [&] { return shared{&uses}; });
    auto held = p.try_acquire_or_create();
    thread sleeper([&] { static_cast<void>(p.acquire_blocking(roost::now() + roost::duration(1))); });
    held.handle().give_back();
    sleeper.join();
    expect_all_back(p, "POOL-15: expired or served, nothing is lost");
}

MODEL(pool_life_model, threads_hand_over) {
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

MODEL(pool_life_model, thread_deadline_vs_put) {
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

// A notified thread comes for an idle resource while another thread clears the idle ones: it gets that one, or a new one.
MODEL(pool_life_model, called_thread_vs_clear_counted) {
    counted c(1);
    auto held = c.p.try_acquire_or_create();
    thread other([&] {
        auto got = c.p.acquire_blocking();
        check(got && c.root->has_work(), "POOL-40: out, and the parent does not know");
    });
    held.handle().give_back();
    c.p.clear_idle();
    other.join();
    check(!c.root->has_work(), "POOL-40: everything is back");
    expect_all_back(c.p, "POOL-15");
}

// The parent closes while a parked thread is on its way to what it was called for: it gets that, or is told.
MODEL(pool_life_model, POOL_41_called_thread_vs_closing_parent) {
    counted c(1);
    auto held = c.p.try_acquire_or_create();
    thread other([&] {
        const auto got = c.p.acquire_blocking();
        check(got || got.status() == roost::wait_status::stopped, "POOL-41: served or told");
    });
    held.handle().give_back();
    c.root->close();
    other.join();
    check(!c.root->has_work(), "POOL-40: everything is back");
}

// A stop that is still on its way to the stripes is seen by an acquire that finds nothing.
MODEL(pool_life_model, POOL_41_stop_vs_try) {
    counted c(1);
    thread other([&] { c.root->stop(); });
    const bool is_stopped = roost::detail::tree_access::core_of(c.p.tree_node()).is_stopping();
    const auto got = c.p.try_acquire();
    check(!is_stopped || got.status() == roost::wait_status::stopped, "POOL-41: from stop on");
    other.join();
    check(c.p.try_acquire().status() == roost::wait_status::stopped, "POOL-41: and for ever");
}

}  // namespace
