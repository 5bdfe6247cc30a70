// What the hardware, the kernel or the simplest possible code costs. No library can be faster than the row that does
// the same work here, so every report carries them, measured in the same run.
#include "../harness/harness.hpp"
#include "../harness/lazy.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <memory>

BENCH_FLOOR("plain_increment") {
    return bench::per_op(b, [](std::uint64_t n) {
        std::uint64_t x = 0;
        for (std::uint64_t i = 0; i < n; ++i) {
            ++x;
            bench::keep(x);
        }
    });
}

BENCH_FLOOR("relaxed_load") {
    std::atomic<int> word{1};
    return bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            bench::keep(word.load(std::memory_order_relaxed));
        }
    });
}

// Two read-modify-writes of one word: what acquire + release must cost at least.
BENCH_FLOOR("atomic_pair") {
    std::atomic<int> word{0};
    return bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            word.fetch_add(1, std::memory_order_acquire);
            word.fetch_sub(1, std::memory_order_release);
        }
    });
}

BENCH_FLOOR("atomic_pair_2t") {
    static std::atomic<int> word{0};
    return bench::per_op_threads(b, 2, [](unsigned, std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            word.fetch_add(1, std::memory_order_acquire);
            word.fetch_sub(1, std::memory_order_release);
        }
    });
}

// Up and down a word of the thread's own, in memory: what counting costs when nobody else looks.
BENCH_FLOOR("thread_local_pair_2t") {
    return bench::per_op_threads(b, 2, [](unsigned, std::uint64_t n) {
        static thread_local std::atomic<std::uint64_t> word{0};
        for (std::uint64_t i = 0; i < n; ++i) {
            word.store(word.load(std::memory_order_relaxed) + 1, std::memory_order_release);
            word.store(word.load(std::memory_order_relaxed) - 1, std::memory_order_release);
        }
    });
}

// A test-and-set lock around nothing: the cheapest mutual exclusion, without fairness or parking.
BENCH_FLOOR("spin_lock_2t") {
    static std::atomic<bool> locked{false};
    static std::uint64_t counter = 0;
    return bench::per_op_threads(b, 2, [](unsigned, std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            while (locked.exchange(true, std::memory_order_acquire)) {
                while (locked.load(std::memory_order_relaxed)) bench::relax();
            }
            ++counter;
            locked.store(false, std::memory_order_release);
        }
    });
}

BENCH_FLOOR("malloc_free") {
    return bench::per_op(b, [](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            void* p = std::malloc(64);
            bench::keep(p);
            std::free(p);
        }
    });
}

BENCH_FLOOR("clock_read") {
    return bench::per_op(b, [](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) bench::keep(bench::clock::now());
    });
}

// Walk a list of 100 nodes and call a function pointer in each: what "wake everybody" must do at least. Per node.
namespace {
struct list_node {
    list_node* next;
    void (*call)(list_node*);
    std::uint64_t called;
    char rest[40];
};
} // namespace

BENCH_FLOOR("list_walk") {
    auto nodes = std::make_unique<list_node[]>(100);
    for (int i = 0; i < 100; ++i) {
        nodes[i].next = i < 99 ? &nodes[i + 1] : nullptr;
        nodes[i].call = [](list_node* self) { ++self->called; };
    }
    auto s = bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            list_node* at = nodes.get();
            bench::keep(at);
            for (; at != nullptr; at = at->next) at->call(at);
        }
    });
    return {s.value / 100, s.ops * 100};
}

// Suspend, put the handle into a slot, take it out, resume: the work of "wait, then be woken" without any queue.
namespace {
struct slot_wait {
    std::coroutine_handle<>* slot;
    explicit slot_wait(std::coroutine_handle<>& s) : slot(&s) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) const noexcept { *slot = h; }
    void await_resume() const noexcept {}
};

bench::lazy wait_for_ever(std::coroutine_handle<>& slot) {
    for (;;) {
        co_await slot_wait(slot);
    }
}

bench::lazy nothing() { co_return; }

bench::lazy await_children(std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        co_await nothing();
    }
}

struct transfer_to {
    std::coroutine_handle<>* mine;
    std::coroutine_handle<>* other;
    transfer_to(std::coroutine_handle<>& m, std::coroutine_handle<>& o) : mine(&m), other(&o) {}
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> h) const noexcept {
        *mine = h;
        return *other;
    }
    void await_resume() const noexcept {}
};

bench::lazy hop(std::coroutine_handle<>& mine, std::coroutine_handle<>& other, std::uint64_t const& n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        co_await transfer_to(mine, other);
    }
}
} // namespace

BENCH_FLOOR("suspend_resume") {
    std::coroutine_handle<> slot;
    auto const waiting = wait_for_ever(slot);
    waiting.start();
    return bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            auto const h = slot;
            bench::clobber();
            h.resume();
        }
    });
}

BENCH_FLOOR("recycled_frame_await") {
    return bench::per_op(b, [](std::uint64_t n) {
        auto const parent = await_children(n);
        parent.start();
    });
}

BENCH_FLOOR("symmetric_transfer") {
    auto s = bench::per_op(b, [](std::uint64_t n) {
        std::coroutine_handle<> a;
        std::coroutine_handle<> c;
        std::uint64_t const never = ~std::uint64_t{0};
        auto const first = hop(a, c, n);
        auto const second = hop(c, a, never);
        c = second.handle();
        first.start();
    });
    return {s.value / 2, s.ops * 2};
}

namespace {
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t seen) {
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
}
void futex_wake(std::atomic<std::uint32_t>& word) { syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0); }
} // namespace

BENCH_FLOOR("futex_wake_nobody") {
    std::atomic<std::uint32_t> word{0};
    return bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) futex_wake(word);
    });
}

// One hand-over between two sleeping threads, through the kernel. Per hop.
BENCH_FLOOR("thread_switch") {
    static std::atomic<std::uint32_t> turn{0};
    auto s = bench::per_op_threads(b, 2, [](unsigned me, std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            while (turn.load(std::memory_order_acquire) != me) futex_wait(turn, 1 - me);
            turn.store(1 - me, std::memory_order_release);
            futex_wake(turn);
        }
    });
    return s;
}

// The same between two spinning threads: the price of one cache line going over and back. Per hop.
BENCH_FLOOR("thread_spin_hop") {
    static std::atomic<std::uint32_t> turn{0};
    return bench::per_op_threads(b, 2, [](unsigned me, std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            while (turn.load(std::memory_order_acquire) != me) bench::relax();
            turn.store(1 - me, std::memory_order_release);
        }
    });
}

// A bounded lock-free queue of four entries, as small as it gets (a sequence number per cell): what a pool would cost that
// cannot wait, create, check or close.
namespace {

class array_queue {
public:
    array_queue() {
        for (std::uint64_t i = 0; i < size; ++i) {
            cells_[i].turn.store(i, std::memory_order_relaxed);
            while (!push(i)) {}
        }
    }
    bool push(std::uint64_t value) {
        std::uint64_t at = tail_.load(std::memory_order_relaxed);
        for (;;) {
            cell& c = cells_[at % size];
            std::uint64_t const turn = c.turn.load(std::memory_order_acquire);
            if (turn == at) {
                if (tail_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed)) {
                    c.value = value;
                    c.turn.store(at + 1, std::memory_order_release);
                    return true;
                }
            } else if (turn < at) {
                return false;
            } else {
                at = tail_.load(std::memory_order_relaxed);
            }
        }
    }
    bool pop(std::uint64_t& value) {
        std::uint64_t at = head_.load(std::memory_order_relaxed);
        for (;;) {
            cell& c = cells_[at % size];
            std::uint64_t const turn = c.turn.load(std::memory_order_acquire);
            if (turn == at + 1) {
                if (head_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed)) {
                    value = c.value;
                    c.turn.store(at + size, std::memory_order_release);
                    return true;
                }
            } else if (turn < at + 1) {
                return false;
            } else {
                at = head_.load(std::memory_order_relaxed);
            }
        }
    }

private:
    static constexpr std::uint64_t size = 4;
    struct cell {
        std::atomic<std::uint64_t> turn{0};
        std::uint64_t value = 0;
    };
    alignas(64) std::atomic<std::uint64_t> head_{0};
    alignas(64) std::atomic<std::uint64_t> tail_{0};
    alignas(64) cell cells_[size];
};

void pop_and_push(array_queue& q, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        std::uint64_t value = 0;
        while (!q.pop(value)) bench::relax();
        bench::keep(value);
        while (!q.push(value)) bench::relax();
    }
}

} // namespace

BENCH_FLOOR("array_queue") {
    array_queue q;
    return bench::per_op(b, [&](std::uint64_t n) { pop_and_push(q, n); });
}

BENCH_FLOOR("array_queue_2t") {
    array_queue q;
    return bench::per_op_threads(b, 2, [&](unsigned, std::uint64_t n) { pop_and_push(q, n); });
}
