#include "planted.hpp"
#include "sample_event.hpp"

#include <gtest/gtest.h>

// Planted bugs of waiting and waking: lost wake, double wake, swallowed permit, attach-vs-cancel miss, store-load.

namespace rt = roost::testing;
using namespace roost;
using namespace roost::ext;
using namespace roost::seam;
using planted::expect_found;
using planted::expect_none;
using planted::verdict;

namespace {

// --- lost wake: check, then enqueue ----------------------------------------------------------------------------------------

class check_then_enqueue_event {
public:
    void set() {
        set_.store(1, mo::seq_cst);
        if (waiters_.load(mo::seq_cst) != 0) {
            woken_.store(1, mo::seq_cst);
            wake_on(&woken_, 8);
        }
    }
    void wait() {
        if (set_.load(mo::seq_cst) != 0) {
            return;
        }
        waiters_.fetch_add(1, mo::seq_cst);  // too late if set() ran in between, and no thread looks again
        while (woken_.load(mo::seq_cst) == 0) {
            wait_on(woken_, 0);
        }
    }

private:
    atomic<std::uint32_t> set_{0};
    atomic<std::uint32_t> waiters_{0};
    atomic<std::uint32_t> woken_{0};
};

template <class Event>
void set_and_wait(unsigned waiters) {
    Event event;
    plain<int> data{0};
    const auto wait = [&] {
        event.wait();
        rt::check(data.get() == 1, "what was written before set() is seen after wait()");
    };
    thread first(wait);
    thread second;
    if (waiters == 2) {
        second = thread(wait);
    }
    data.set(1);
    event.set();
    first.join();
    if (waiters == 2) {
        second.join();
    }
}

// --- double wake: a waiter is claimed by notify and by cancel --------------------------------------------------------------

template <bool Fixed>
void claim_race() {
    atomic<int> claimed{0};
    atomic<int> resumed{0};
    const auto claim = [&] {
        if constexpr (Fixed) {
            int expected = 0;
            return claimed.compare_exchange_strong(expected, 1, mo::acq_rel, mo::relaxed);
        } else {
            if (claimed.load(mo::acquire) != 0) {
                return false;
            }
            claimed.store(1, mo::release);
            return true;
        }
    };
    const auto resume_if_mine = [&] {
        if (claim()) {
            rt::check(resumed.fetch_add(1, mo::relaxed) == 0, "a waiter is resumed once");
        }
    };
    thread notify(resume_if_mine);
    thread cancel(resume_if_mine);
    notify.join();
    cancel.join();
    rt::check(resumed.load(mo::relaxed) == 1, "a waiter is resumed");
}

// --- swallowed permit: the cancelled waiter already owned it ----------------------------------------------------------------

// One waiter is queued; a release hands it the permit; its cancel comes at the same time.
template <bool Fixed>
void permit_race() {
    constexpr int waiting = 0, granted = 1, cancelled = 2;
    atomic<int> waiter{waiting};
    atomic<int> permits{0};
    thread release([&] {
        int expected = waiting;
        if (!waiter.compare_exchange_strong(expected, granted, mo::acq_rel, mo::acquire)) {
            permits.fetch_add(1, mo::release);
        }
    });
    bool has_permit = false;
    thread cancel([&] {
        if constexpr (Fixed) {
            int expected = waiting;
            has_permit = !waiter.compare_exchange_strong(expected, cancelled, mo::acq_rel, mo::acquire);
        } else {
            waiter.exchange(cancelled, mo::acq_rel);  // leaves without looking whether it had been served
        }
        if (has_permit) {
            permits.fetch_add(1, mo::release);  // pass it on
        }
    });
    release.join();
    cancel.join();
    rt::check(permits.load(mo::acquire) == 1, "the permit is neither lost nor doubled");
}

// --- attach versus cancel ---------------------------------------------------------------------------------------------------

template <bool Fixed>
void attach_race() {
    atomic<int> cancelled{0};
    atomic<int> attached{0};
    atomic<int> told{0};
    const auto tell = [&] {
        if (attached.exchange(0, mo::seq_cst) == 1) {
            told.fetch_add(1, mo::relaxed);
        }
    };
    thread child([&] {
        if (cancelled.load(mo::seq_cst) != 0) {
            told.fetch_add(1, mo::relaxed);
            return;
        }
        attached.store(1, mo::seq_cst);
        if (Fixed && cancelled.load(mo::seq_cst) != 0) {
            tell();
        }
    });
    thread canceller([&] {
        cancelled.store(1, mo::seq_cst);
        tell();
    });
    child.join();
    canceller.join();
    rt::check(told.load(mo::relaxed) == 1, "a child is told of the cancel exactly once");
}

// --- store-load: each side announces itself, then looks for the other -------------------------------------------------------

void handshake(std::memory_order order) {
    atomic<int> sleeping{0};
    atomic<int> work{0};
    bool missed_by_worker = false;
    bool missed_by_poster = false;
    thread worker([&] {
        sleeping.exchange(1, order);
        missed_by_worker = work.load(order == mo::seq_cst ? mo::seq_cst : mo::acquire) == 0;
    });
    thread poster([&] {
        work.exchange(1, order);
        missed_by_poster = sleeping.load(order == mo::seq_cst ? mo::seq_cst : mo::acquire) == 0;
    });
    worker.join();
    poster.join();
    rt::check(!(missed_by_worker && missed_by_poster), "one of the two sees the other");
}

}  // namespace

TEST(planted, EXPL_20_lost_wake_is_found) {
    expect_found(verdict::deadlock, [] { set_and_wait<check_then_enqueue_event>(1); });
}
TEST(planted, EXPL_20_lost_wake_with_two_waiters_is_found) {
    expect_found(verdict::deadlock, [] { set_and_wait<check_then_enqueue_event>(2); });
}
TEST(planted, EXPL_20_event_in_one_word_loses_no_wake) {
    expect_none([] { set_and_wait<sample::event>(1); });
    expect_none([] { set_and_wait<sample::event>(2); });
}
TEST(planted, EXPL_21_double_wake_is_found) { expect_found(verdict::assertion, claim_race<false>); }
TEST(planted, EXPL_21_compare_exchange_claims_once) { expect_none(claim_race<true>); }
TEST(planted, EXPL_22_swallowed_permit_is_found) { expect_found(verdict::assertion, permit_race<false>); }
TEST(planted, EXPL_22_cancelled_waiter_passes_the_permit_on) { expect_none(permit_race<true>); }
TEST(planted, EXPL_23_attach_that_misses_the_cancel_is_found) { expect_found(verdict::assertion, attach_race<false>); }
TEST(planted, EXPL_23_attach_looks_again) { expect_none(attach_race<true>); }

TEST(planted, EXPL_24_store_load_bug_is_found_in_weak_memory) {
    expect_found(verdict::assertion, [] { handshake(mo::acq_rel); }, {.memory = rt::memory::weak});
}
TEST(planted, EXPL_24_store_load_bug_is_invisible_in_sequentially_consistent_memory) {
    expect_none([] { handshake(mo::acq_rel); }, {.memory = rt::memory::sc});
}
TEST(planted, EXPL_24_seq_cst_handshake_is_right) {
    expect_none([] { handshake(mo::seq_cst); });
}
