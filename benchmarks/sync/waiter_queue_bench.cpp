#include "../harness/harness.hpp"
#include "../harness/roost_coroutine.hpp"

#include <roost/sync/waiter_queue.hpp>

namespace {

bool never() { return false; }

bench::lazy wait_for_ever(roost::waiter_queue& queue) {
    for (;;) {
        co_await queue.wait_unless(never);
    }
}

} // namespace

BENCH_OURS("sync/notify_nobody") {
    roost::waiter_queue queue;
    return bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            queue.wake_one();
            bench::clobber();
        }
    });
}

// A coroutine waits, is woken, resumes and waits again.
BENCH_OURS("sync/wait_wake_one") {
    roost::waiter_queue queue;
    auto const waiting = wait_for_ever(queue);
    waiting.start();
    return bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) queue.wake_one();
    });
}

// As the waker of the Rust rows: it is called, and does nothing. What it is called with is noted once, so that everybody can
// be resumed by hand, and wait again, outside the measurement.
namespace {
class note_once final : public roost::executor {
public:
    note_once() noexcept : executor(chains_t{}) {}
    bool post(roost::ext::work& w) noexcept override {
        if (noting) all.push_back(&w);
        return true;
    }
    void post_all(roost::ext::work_list& posted) noexcept override {
        if (noting) return roost::executor::post_all(posted);
        posted = {};
    }
    std::vector<roost::ext::work*> all;
    bool noting = true;
};

bench::queued wait_for_ever_on(roost::executor&, roost::waiter_queue& queue) {
    for (;;) {
        co_await queue.wait_unless(never);
    }
}
}  // namespace

BENCH_OURS("sync/wake_all_100") {
    note_once ready;
    roost::waiter_queue queue;
    std::vector<bench::queued> all;
    for (int i = 0; i < 100; ++i) {
        all.push_back(wait_for_ever_on(ready, queue));
        all.back().start();
    }
    queue.wake_all();
    ready.noting = false;
    auto const resume_all = [&] {
        for (roost::ext::work* w : ready.all) w->run();
    };
    resume_all();
    auto const s = bench::measure(b, [&](std::uint64_t n) {
        double took = 0;
        for (std::uint64_t i = 0; i < n; ++i) {
            auto const start = bench::clock::now();
            queue.wake_all();
            took += bench::ns_since(start);
            resume_all();
        }
        return took;
    });
    return {s.value / 100, s.ops * 100};
}

namespace {
struct flag_target {
    std::atomic<bool> woken{false};
    roost::ext::resume_target target() {
        constexpr roost::ext::work::run_function run = +[](roost::ext::work& w) noexcept {
            static_cast<flag_target*>(static_cast<roost::ext::waiter&>(w).frame())
                ->woken.store(true, std::memory_order_release);
        };
        return {this, run, {}};
    }
    void await() {
        while (!woken.load(std::memory_order_acquire)) bench::relax();
    }
};
}  // namespace

// Register, wake whoever is first, leave: as a Rust future that is polled once and dropped.
BENCH_OURS("sync/add_wake_2t") {
    static roost::waiter_queue queue;
    return bench::per_op_threads(b, 2, [](unsigned, std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            flag_target mine;
            auto wait = queue.wait_unless(never);
            static_cast<void>(wait.start(mine.target()));
            queue.wake_one();
            if (!wait.try_cancel()) mine.await();
            wait.await_resume();
        }
    });
}

BENCH_OURS("sync/thread_ping_pong") {
    static std::atomic<unsigned> turn{0};
    static roost::waiter_queue queue[2];
    return bench::per_op_threads(b, 2, [](unsigned me, std::uint64_t n) {
        auto const mine = [me] { return turn.load(std::memory_order_seq_cst) == me; };
        for (std::uint64_t i = 0; i < n; ++i) {
            while (!mine()) queue[me].wait_blocking(mine);
            turn.store(1 - me, std::memory_order_seq_cst);
            queue[1 - me].wake_one();
        }
    });
}
