#include "planted.hpp"

#include <roost/base/assert.hpp>

#include <gtest/gtest.h>

#include <coroutine>
#include <new>
#include <stdexcept>

// One program per verdict, and what else the explorer promises: real coroutines, thread values, time, deterministic memory.

namespace rt = roost::testing;
using namespace roost;
using namespace roost::seam;
using planted::expect_found;
using planted::expect_none;
using planted::verdict;

namespace {

struct node {
    atomic<int> value{0};
    plain<int> data{0};
};

node* make_node() { return new (allocate(sizeof(node))) node; }
void free_node(node* n) {
    n->~node();
    deallocate(n, sizeof(node));
}

}  // namespace

TEST(explore_verdicts, EXPL_30_leak) {
    expect_found(verdict::leak, [] { (void)allocate(16); });
}
TEST(explore_verdicts, EXPL_30_double_free) {
    expect_found(verdict::double_free, [] {
        void* p = allocate(16);
        deallocate(p, 16);
        deallocate(p, 16);
    });
}
TEST(explore_verdicts, EXPL_30_use_after_free_of_an_atomic) {
    expect_found(verdict::use_after_free, [] {
        node* n = make_node();
        thread reader([n] { (void)n->value.load(mo::acquire); });
        free_node(n);
        reader.join();
    });
}
TEST(explore_verdicts, EXPL_30_use_after_free_of_plain_memory) {
    expect_found(verdict::use_after_free, [] {
        node* n = make_node();
        free_node(n);
        (void)n->data.get();
    });
}
TEST(explore_verdicts, EXPL_30_free_must_be_ordered_after_the_last_access) {
    expect_found(verdict::use_after_free, [] {
        node* n = make_node();
        atomic<int> left{2};
        const auto drop = [&left, n] {
            (void)n->value.load(mo::relaxed);
            if (left.fetch_sub(1, mo::relaxed) == 1) {  // acq_rel is needed
                free_node(n);
            }
        };
        thread other(drop);
        drop();
        other.join();
    });
}
TEST(explore_verdicts, EXPL_30_use_of_a_dead_stack_object) {
    expect_found(verdict::use_after_free, [] {
        atomic<atomic<int>*> shared{nullptr};
        thread reader([&] {
            if (atomic<int>* p = shared.load(mo::acquire)) {
                (void)p->load(mo::relaxed);
            }
        });
        {
            atomic<int> local{0};
            shared.store(&local, mo::release);
        }
        reader.join();
    });
}
TEST(explore_verdicts, EXPL_30_object_published_too_weakly) {
    expect_found(verdict::data_race, [] {
        atomic<node*> shared{nullptr};
        thread reader([&] {
            if (node* n = shared.load(mo::acquire)) {
                (void)n->value.load(mo::relaxed);
            }
        });
        node* n = make_node();
        shared.store(n, mo::relaxed);
        reader.join();
        free_node(n);
    });
}
TEST(explore_verdicts, EXPL_31_deadlock_of_two_locks) {
    expect_found(verdict::deadlock, [] {
        small_mutex a, b;
        thread other([&] {
            b.lock();
            a.lock();
            a.unlock();
            b.unlock();
        });
        a.lock();
        b.lock();
        b.unlock();
        a.unlock();
        other.join();
    });
}
TEST(explore_verdicts, EXPL_32_livelock) {
    expect_found(verdict::livelock, [] {
        atomic<int> never{0};
        while (never.load(mo::relaxed) == 0) {
            spin_hint();
        }
    });
}
TEST(explore_verdicts, EXPL_32_spinning_on_another_thread_ends) {
    expect_none([] {
        atomic<int> ready{0};
        thread other([&] {
            ready.store(1, mo::relaxed);
            ready.store(2, mo::release);
        });
        thread third([&] {
            while (ready.load(mo::acquire) != 2) {
                spin_hint();
            }
        });
        while (ready.load(mo::acquire) != 2) {
            yield_thread();
        }
        other.join();
        third.join();
    });
}
TEST(explore_verdicts, EXPL_33_panic_becomes_a_verdict) {
    expect_found(verdict::panic, [] {
        atomic<int> x{0};
        thread other([&] { x.store(1, mo::relaxed); });
        if (x.load(mo::relaxed) == 1) {
            detail::panic("event", "gate", site::here(), "was destroyed while a thread waits");
        }
        other.join();
    });
}
TEST(explore_verdicts, EXPL_33_escaped_exception) {
    expect_found(verdict::exception, [] {
        thread other([] { throw std::runtime_error("out"); });
        other.join();
    });
}
TEST(explore_verdicts, EXPL_33_thread_not_joined) {
    expect_found(verdict::assertion, [] { thread other([] {}); });
}

#if defined(ROOST_SEAM_MODEL)
TEST(explore_verdicts, EXPL_34_nondeterminism) {
    int calls = 0;
    const rt::result r = rt::explore({.name = "calls"}, [&] {
        atomic<int> x{0};
        for (int i = 0; i <= calls % 2; ++i) {
            (void)x.load(mo::relaxed);
        }
        ++calls;
    });
    EXPECT_STREQ(to_string(r.verdict), "nondeterminism");
}
#endif

// --- what else works inside ------------------------------------------------------------------------------------------------

TEST(explore_verdicts, EXPL_35_exceptions_are_kept_apart_per_thread) {
    expect_none([] {
        atomic<int> x{0};
        const auto body = [&] {
            try {
                throw std::runtime_error("mine");
            } catch (const std::exception&) {
                x.fetch_add(1, mo::relaxed);  // the other thread may run here, inside its own handler
                try {
                    throw;
                } catch (const std::runtime_error& again) {
                    rt::check(std::string(again.what()) == "mine", "rethrow finds this thread's exception");
                }
            }
        };
        thread a(body);
        thread b(body);
        a.join();
        b.join();
    });
}

TEST(explore_verdicts, EXPL_36_thread_values_live_and_die_with_their_thread) {
    struct tag {};
    [[maybe_unused]] static int alive = 0;
    struct counted {
        int value = 0;
        counted() { ++alive; }
        ~counted() { --alive; }
        counted(const counted&) = delete;
        counted& operator=(const counted&) = delete;
    };
#if defined(ROOST_SEAM_MODEL)
    expect_none([] {
        const int before = alive;
        {
            atomic<int> x{0};
            thread a([&] {
                thread_value<tag, counted>::get().value = 1;
                x.fetch_add(1, mo::relaxed);
                rt::check(thread_value<tag, counted>::get().value == 1, "a thread has its own value");
            });
            rt::check(thread_value<tag, counted>::get().value == 0, "a thread has its own value");
            a.join();
        }
        rt::check(alive == before + 1, "a thread's value ends with it");
    });
    EXPECT_EQ(alive, 0);
#endif
}

TEST(explore_verdicts, EXPL_37_timed_wait_is_woken_or_times_out) {
    [[maybe_unused]] int woken = 0, expired = 0;
    expect_none([&] {
        atomic<std::uint32_t> word{0};
        thread waker([&] {
            word.store(1, mo::release);
            wake_on(&word, 1);
        });
        const time_point start = now();
        const bool in_time = wait_on_until(word, 0, start + std::chrono::milliseconds(5));
        rt::check(in_time || now() >= start + std::chrono::milliseconds(5), "a time-out is not early");
        ++(in_time ? woken : expired);
        waker.join();
    });
#if defined(ROOST_SEAM_MODEL)
    EXPECT_GT(woken, 0);
    EXPECT_GT(expired, 0);
#endif
}

TEST(explore_verdicts, EXPL_38_failing_allocation_is_part_of_the_search) {
    expect_found(verdict::leak,
                 [] {
                     void* first = allocate(8);
                     try {
                         void* second = allocate(8);
                         deallocate(second, 8);
                     } catch (const std::bad_alloc&) {
                         return;  // forgets the first
                     }
                     deallocate(first, 8);
                 },
                 {.failing_allocations = 2});
}

TEST(explore_verdicts, EXPL_39_condition_variables) {
    expect_none([] {
        os_mutex lock;
        os_condvar changed;
        bool ready = false;
        thread setter([&] {
            lock.lock();
            ready = true;
            lock.unlock();
            changed.notify_one();
        });
        lock.lock();
        while (!ready) {
            changed.wait(lock);
        }
        lock.unlock();
        setter.join();
    });
}

namespace {

// A coroutine that suspends into an atomic slot; the thread that takes the slot resumes it.
struct detached {
    struct promise_type {
        detached get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { detail::panic("a test coroutine threw"); }
        static void* operator new(std::size_t n) { return allocate_frame(n); }
        static void operator delete(void* p, std::size_t n) { deallocate_frame(p, n); }
    };
};

struct slot_awaiter {
    atomic<void*>* slot;
    bool publish_first;  // the bug: hand the frame over, then touch it
    plain<int> touched{0};
    slot_awaiter(atomic<void*>* s, bool bug) : slot(s), publish_first(bug) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) noexcept {
        if (!publish_first) {
            touched.set(1);
        }
        slot->store(h.address(), mo::release);
        if (publish_first) {
            touched.set(1);
        }
    }
    void await_resume() const noexcept {}
};

detached wait_in(atomic<void*>* slot, atomic<int>* done, bool bug) {
    slot_awaiter a(slot, bug);
    co_await a;
    done->fetch_add(1, mo::release);
}

void coroutine_race(bool bug) {
    atomic<void*> slot{nullptr};
    atomic<int> done{0};
    thread resumer([&] {
        void* p = nullptr;
        while ((p = slot.load(mo::acquire)) == nullptr) {
            yield_thread();
        }
        std::coroutine_handle<>::from_address(p).resume();
    });
    wait_in(&slot, &done, bug);
    resumer.join();
    rt::check(done.load(mo::acquire) == 1, "the coroutine went on");
}

}  // namespace

TEST(explore_verdicts, EXPL_40_real_coroutines) {
    expect_none([] { coroutine_race(false); });
}
TEST(explore_verdicts, EXPL_40_frame_touched_after_publish_is_found) {
    expect_found(verdict::use_after_free, [] { coroutine_race(true); });
}
