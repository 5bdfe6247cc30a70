#include "planted.hpp"

#include <gtest/gtest.h>

#include <array>
#include <new>

// Planted bugs of lifetime and structure: touch after publish, ABA, the leaf-first guard walk.

namespace rt = roost::testing;
using namespace roost;
using namespace roost::seam;
using planted::expect_found;
using planted::expect_none;
using planted::verdict;

namespace {

// --- touch after publish: the last guard is still inside when the joiner frees the scope -------------------------------------

struct counting_scope {
    atomic<std::uint32_t> guards{0};
    atomic<std::uint32_t> done{0};
};

template <bool Fixed>
void leave(counting_scope* scope) {
    if constexpr (Fixed) {
        // One word: the decrement that lets the joiner go is the last access; the wake uses only the address.
        const atomic<std::uint32_t>* word = &scope->guards;
        if (scope->guards.fetch_sub(1, mo::acq_rel) == 1) {
            wake_on(word, 1);
        }
    } else {
        if (scope->guards.fetch_sub(1, mo::acq_rel) == 1) {
            scope->done.store(1, mo::release);
            wake_on(&scope->done, 1);
        }
    }
}

template <bool Fixed>
void scope_freed(unsigned guards) {
    auto* scope = new (allocate(sizeof(counting_scope))) counting_scope;
    scope->guards.store(guards, mo::relaxed);
    std::array<thread, 2> threads;
    for (unsigned i = 0; i < guards; ++i) {
        threads[i] = thread([=] { leave<Fixed>(scope); });
    }
    for (std::uint32_t left = scope->guards.load(mo::acquire); left != 0; left = scope->guards.load(mo::acquire)) {
        Fixed ? wait_on(scope->guards, left) : wait_on(scope->done, 0);
    }
    scope->~counting_scope();
    deallocate(scope, sizeof(counting_scope));
    for (unsigned i = 0; i < guards; ++i) {
        threads[i].join();
    }
}

// --- ABA: a free list whose head has no tag ----------------------------------------------------------------------------------

template <unsigned TagBits>
class free_list {
public:
    static constexpr unsigned size = 3;

    free_list() {
        for (unsigned i = 0; i < size; ++i) {
            next_[i].store(i + 1, mo::relaxed);
        }
    }
    unsigned pop() {  // index, or size if empty
        unsigned head = head_.load(mo::acquire);
        for (;;) {
            const unsigned top = head & 15U;
            if (top == size) {
                return size;
            }
            const unsigned after = next_[top].load(mo::relaxed);
            if (head_.compare_exchange_weak(head, after | bumped(head), mo::acq_rel, mo::acquire)) {
                return top;
            }
        }
    }
    void push(unsigned node) {
        unsigned head = head_.load(mo::relaxed);
        do {
            next_[node].store(head & 15U, mo::relaxed);
        } while (!head_.compare_exchange_weak(head, node | bumped(head), mo::release, mo::relaxed));
    }

private:
    static constexpr unsigned bumped(unsigned head) {
        return TagBits == 0 ? 0 : (((head >> 4U) + 1) & ((1U << TagBits) - 1)) << 4U;
    }
    atomic<unsigned> head_{0};
    std::array<atomic<unsigned>, size> next_;
};

template <unsigned TagBits>
void free_list_race() {
    free_list<TagBits> list;
    std::array<atomic<int>, free_list<TagBits>::size + 1> owners;
    const auto take = [&] {
        const unsigned node = list.pop();
        if (node < free_list<TagBits>::size) {
            rt::check(owners[node].fetch_add(1, mo::acquire) == 0, "a node has one owner");
        }
        return node;
    };
    thread other([&] { take(); });
    const unsigned a = take();
    const unsigned b = take();
    if (a < free_list<TagBits>::size) {
        owners[a].fetch_sub(1, mo::release);
        list.push(a);
    }
    take();
    take();
    (void)b;
    other.join();
}

// --- leaf-first guard walk: a guard that its ancestors do not count yet ------------------------------------------------------

class leaf_first_counter {
public:
    void enter() {
        if (leaf_.fetch_add(1, mo::seq_cst) == 0) {
            root_.fetch_add(1, mo::seq_cst);  // a second one returns uncounted in the meantime
        }
    }
    void leave() {
        if (leaf_.fetch_sub(1, mo::seq_cst) == 1) {
            root_.fetch_sub(1, mo::seq_cst);
        }
    }
    bool is_idle() { return root_.load(mo::seq_cst) == 0; }

private:
    atomic<int> leaf_{0};
    atomic<int> root_{0};
};

// Counts in halves: the first to arrive leaves a half until the root knows; a thread that meets the half helps.
class announcing_counter {
public:
    void enter() {
        int undo = 0;
        for (bool in = false; !in;) {
            unsigned x = leaf_.load(mo::seq_cst);
            if ((x & 255U) >= 2) {
                in = leaf_.compare_exchange_strong(x, x + 2, mo::seq_cst, mo::seq_cst);
                continue;
            }
            if ((x & 255U) == 0 && leaf_.compare_exchange_strong(x, x + 256 + 1, mo::seq_cst, mo::seq_cst)) {
                in = true;
                x += 256 + 1;
            }
            if ((x & 255U) == 1) {
                root_.fetch_add(1, mo::seq_cst);
                undo += leaf_.compare_exchange_strong(x, x + 1, mo::seq_cst, mo::seq_cst) ? 0 : 1;
            }
        }
        for (; undo > 0; --undo) {
            root_.fetch_sub(1, mo::seq_cst);
        }
    }
    void leave() {
        if ((leaf_.fetch_sub(2, mo::seq_cst) & 255U) == 2) {
            root_.fetch_sub(1, mo::seq_cst);
        }
    }
    bool is_idle() { return root_.load(mo::seq_cst) == 0; }

private:
    atomic<unsigned> leaf_{0};
    atomic<int> root_{0};
};

template <class Counter>
void guard_walk() {
    Counter counter;
    thread other([&] {
        counter.enter();
        counter.leave();
    });
    counter.enter();
    rt::check(!counter.is_idle(), "a returned guard is counted at the root");
    counter.leave();
    other.join();
    rt::check(counter.is_idle(), "the root is idle when every guard is gone");
}

}  // namespace

TEST(planted, EXPL_25_scope_freed_under_the_last_guard_is_found) {
    expect_found(verdict::use_after_free, [] { scope_freed<false>(1); });
    expect_found(verdict::use_after_free, [] { scope_freed<false>(2); });
}
TEST(planted, EXPL_25_count_and_waiter_in_one_word) {
    expect_none([] { scope_freed<true>(1); });
    expect_none([] { scope_freed<true>(2); });
}
TEST(planted, EXPL_26_aba_on_an_untagged_list_is_found) { expect_found(verdict::assertion, free_list_race<0>); }
TEST(planted, EXPL_26_two_tag_bits_suffice_here) { expect_none(free_list_race<2>); }
TEST(planted, EXPL_27_leaf_first_guard_walk_is_found) { expect_found(verdict::assertion, guard_walk<leaf_first_counter>); }
TEST(planted, EXPL_27_announcing_counter_is_right) { expect_none(guard_walk<announcing_counter>); }
