#pragma once

#include <roost/base/assert.hpp>
#include <roost/base/atomic.hpp>
#include <roost/exec/driver.hpp>

#include <chrono>
#include <cstdint>
#include <utility>

// The workers that sleep and those that search. A post wakes a sleeper exactly when no searcher would find the work.
//
// Why it is not simpler: a worker that finds nothing and goes to sleep races with a post that sees no sleeper. Waking on
// every post costs a system call each. Here a post on a busy worker costs one plain load. The worker that goes to sleep
// pays for both with a heavy barrier between its announcement and its last look.
//
// The barrier interrupts every processor that runs this process. Workers that wait for a network go to sleep thousands of
// times per second, and then the barriers cost more than the posts save. So a worker that needs a second barrier within
// barrier_gap makes the set strict: posts pay for themselves, and no barrier is needed. After calm_posts posts without an
// announced sleep, the set is no longer strict. A kernel that begins to refuse the barrier makes the set strict for good. A
// worker needs no barrier either if all others are listed: they run no bodies, and lock_ orders what they posted before.
//
// Word     word_: searching (bits 0..15), parked (bits 16..30), strict (bit 31); changed under lock_, read without
// States   of a sleeper: awake (not listed) | listed | chosen (taken off the list by wake_one, counted as searching)
//
//   awake --announce--> listed --wake_one--> chosen --signal seen--> awake, searching
//                       listed --withdraw--> awake, searching
//
//   light --second barrier soon, or the kernel refuses it--> strict --that barrier has passed--> trusted --calm_posts--> light
//
// One sleeper may sleep in the driver instead of on its signal. It is woken last, through the driver: another sleeper is cheaper
// to wake, and events need a thread in the driver.
//
// Fields   sleeper::next_, listed_, driver_, the list, trusted_, last_barrier_: under lock_
// I1       parked == length of the list
// I2       an item pushed before needs_waking() returned false is seen by a searcher, or by a parker's last look
// I3       trusted_ implies strict. A post that reads a word without strict has pushed before the barrier, and each later look
//          sees its item. Or it reads a word from after the strict time: that counts every worker that has gone to sleep in
//          that time, as a sleeper, or as a searcher that stops only under lock_.
//
// id  operation                        order    pairs  carries                                                fails in
// P1  announce, end_search: fetch_add  acquire  P3     pushes whose posters saw a searcher, for the look that follows  idle_set_model: park_or_post_strict
// P2  needs_waking, counts: loads      relaxed  -      nothing: the barrier pair orders it after the push     (floor)
// P3  needs_waking_strict: fetch_add(0)  release  P1   the push, before the look at the word: for posts from outside, in a
//                                                      strict set, and where the kernel has no membarrier                     idle_set_model: park_or_post_strict
// P4  announce, wake: signal_ store    relaxed  P5     nothing: written under lock_                           (floor)
// P5  sleep: signal_ load              relaxed  P4     nothing: a woken worker looks into the queues, which carry their items (floor)
// P6  wake, search, withdraw: fetch_add  relaxed  -    nothing: written under lock_; an update keeps P3's release going (floor)
// P7  calm: posts_ load, store         relaxed  -      nothing: an estimate                                   (floor)
// P8  wake_one: fetch_add              relaxed  -      nothing: as P6                                         (floor)
//
// P8 survives fetch_add as load and store: wake_one changes the word only while no worker searches, and then every post wakes

namespace roost::inline ROOST_ABI::detail {

class idle_set {
public:
    class sleeper {
    public:
        sleeper() noexcept = default;

    private:
        friend class idle_set;
        atomic<std::uint32_t> signal_{0};
        sleeper* next_ = nullptr;
        ext::driver* driver_ = nullptr;
        bool listed_ = false;
    };

    static constexpr std::uint32_t most_workers = 0x7fff;
    // workers: how many use this set, at most most_workers; 0 if unknown. calm_posts: see above.
    explicit idle_set(bool asymmetric, std::uint32_t workers = 0, std::uint32_t calm_posts = 256) noexcept
        : asymmetric_(asymmetric), workers_(workers), calm_posts_(calm_posts) {}
    idle_set(const idle_set&) = delete;
    idle_set& operator=(const idle_set&) = delete;

    // Called after a push by a worker of this set. Returns true if a worker sleeps and none searches.
    [[nodiscard]] bool needs_waking() noexcept {
        if (!asymmetric_ || !has_heavy_barrier()) {
            return needs_waking_strict();
        }
        light_barrier();
        const std::uint32_t word = word_.load(mo::relaxed);  // P2
        return word >= one_parked && ((word & strict) != 0 ? needs_waking_for_now() : must_wake(word));
    }
    // As above, after a push by any other thread.
    [[nodiscard]] bool needs_waking_strict() noexcept { return must_wake(word_.fetch_add(0, mo::release)); }  // P3

    // Wakes the newest sleeper, as a searcher: one that is not in the driver if there is one. Returns false if none sleeps, or
    // one searches already.
    bool wake_one() noexcept {
        lock_.lock();
        sleeper* s = list_;
        if (s == nullptr || searching() != 0) {
            lock_.unlock();
            return false;
        }
        if (s->driver_ != nullptr && s->next_ != nullptr) {
            s = s->next_;
        }
        ext::driver* const in = s->driver_;
        unlist(*s);
        word_.fetch_add(one_searching - one_parked, mo::relaxed);  // P8
        s->signal_.store(1, mo::relaxed);  // P4
        lock_.unlock();
        rouse(&s->signal_, in);
        return true;
    }
    // Wakes all present sleepers. A worker that goes to sleep later sees what the caller did before.
    void wake_all() noexcept {
        lock_.lock();
        while (sleeper* s = list_) {
            unlist(*s);
            word_.fetch_add(one_searching - one_parked, mo::relaxed);  // P6
            s->signal_.store(1, mo::relaxed);  // P4
            rouse(&s->signal_, s->driver_);  // rare, so under the lock: afterwards the list may have changed
        }
        lock_.unlock();
    }

    // Makes a busy worker a searcher. Returns false if `limit` others search already.
    [[nodiscard]] bool try_begin_search(std::uint32_t limit) noexcept {
        lock_.lock();
        const bool allowed = searching() < limit;
        if (allowed) {
            word_.fetch_add(one_searching, mo::relaxed);  // P6
        }
        lock_.unlock();
        return allowed;
    }
    struct counts {
        std::uint32_t searching;
        std::uint32_t parked;
        bool is_ordered;  // a look at the queues needs no order_before_look()
    };
    // Called by a searcher that has found work. Returns the remaining counts, so that it can tell whether another one
    // searches.
    counts end_search() noexcept {
        lock_.lock();
        const std::uint32_t before = word_.fetch_add(0U - one_searching, mo::acquire);  // P1
        const bool is_ordered = !asymmetric_ || trusted_;
        lock_.unlock();
        return {(before & searching_mask) - 1, parked_in(before), is_ordered};
    }

    // Lists the calling worker as about to sleep. It then has to look at every queue a last time and call withdraw() or
    // sleep(). Returns how many are listed now.
    std::uint32_t announce(sleeper& s, bool was_searching) noexcept {
        lock_.lock();
        s.signal_.store(0, mo::relaxed);  // P4
        s.next_ = list_;
        s.listed_ = true;
        list_ = &s;
        const std::uint32_t change = one_parked - (was_searching ? one_searching : 0U);
        const std::uint32_t parked = parked_in(word_.fetch_add(change, mo::acquire) + change);  // P1
        posts_.store(0, mo::relaxed);  // P7
        const bool is_ordered = !asymmetric_ || trusted_ || parked == workers_;
        const bool becomes_strict = !is_ordered && note_barrier();
        lock_.unlock();
        if (!is_ordered) {
            pass_barrier(becomes_strict);
        }
        return parked;
    }
    // Called when the last look found work: back to searching. Valid also if this sleeper has been chosen meanwhile.
    void withdraw(sleeper& s) noexcept {
        lock_.lock();
        if (s.listed_) {
            unlist(s);
            word_.fetch_add(one_searching - one_parked, mo::relaxed);  // P6
        }
        lock_.unlock();
    }
    // Blocks until wake_one() chooses this sleeper, which is then a searcher. Returns false at the deadline; it is still
    // listed.
    bool sleep(sleeper& s, time_point deadline = no_deadline) noexcept {
        while (s.signal_.load(mo::relaxed) == 0) {  // P5
            if (!wait_on_until(s.signal_, 0, deadline)) {
                return s.signal_.load(mo::relaxed) != 0;  // P5
            }
        }
        return true;
    }

    // As sleep(), in the driver: also returns when that has something to handle. Afterwards the worker is a searcher. Another
    // thread may still call the driver's wake().
    void drive(sleeper& s, ext::driver& in) noexcept {
        lock_.lock();
        const bool sleeps = s.signal_.load(mo::relaxed) == 0;  // P5
        s.driver_ = sleeps ? &in : nullptr;
        lock_.unlock();
        if (sleeps) {
            in.park(no_deadline);
            lock_.lock();
            s.driver_ = nullptr;
            lock_.unlock();
            withdraw(s);
        }
    }

    // Returns true if a worker could run something right now. An estimate.
    [[nodiscard]] bool is_any_parked() const noexcept { return parked_in(word_.load(mo::relaxed)) != 0; }  // P2
    // Called between an end_search() that is not ordered and a look at the queues of workers that may be running.
    void order_before_look() noexcept {
        lock_.lock();
        const bool becomes_strict = note_barrier();
        lock_.unlock();
        pass_barrier(becomes_strict);
    }

    // Calls `look` while no sleeper can be listed, chosen or withdrawn.
    template <class Look>
    auto while_still(Look look) noexcept {
        lock_.lock();
        auto result = look(parked_in(word_.load(mo::relaxed)));  // P2
        lock_.unlock();
        return result;
    }

private:
    static constexpr std::uint32_t one_searching = 1;
    static constexpr std::uint32_t searching_mask = 0xffff;
    static constexpr std::uint32_t one_parked = 0x10000;
    static constexpr std::uint32_t strict = 0x80000000;
    static constexpr duration barrier_gap = std::chrono::microseconds(200);

    static std::uint32_t parked_in(std::uint32_t word) noexcept { return (word & ~strict) / one_parked; }
    static bool must_wake(std::uint32_t word) noexcept { return parked_in(word) != 0 && (word & searching_mask) == 0; }
    [[nodiscard]] std::uint32_t searching() const noexcept { return word_.load(mo::relaxed) & searching_mask; }  // P2

    // Only the address of the signal is used: the sleeper may run already.
    static void rouse(const atomic<std::uint32_t>* signal, ext::driver* in) noexcept {
        if (in != nullptr) {
            in->wake();
        } else {
            wake_on(signal, 1);
        }
    }
    void unlist(sleeper& s) noexcept {
        sleeper** link = &list_;
        while (*link != &s) {
            link = &(*link)->next_;
        }
        *link = s.next_;
        s.listed_ = false;
    }

    // Called under the lock, before a barrier. Returns true if it makes the set strict; then the set is trusted after it.
    bool note_barrier() noexcept {
        const time_point t = now();
        const bool is_soon = t - std::exchange(last_barrier_, t) < barrier_gap || !has_heavy_barrier();
        if (!is_soon || (word_.load(mo::relaxed) & strict) != 0) {  // P2
            return false;
        }
        word_.fetch_add(strict, mo::relaxed);  // P6
        return true;
    }
    void pass_barrier(bool becomes_strict) noexcept {
        heavy_barrier();  // without the kernel's it takes store_drain_time
        if (becomes_strict) {
            lock_.lock();
            trusted_ = true;
            lock_.unlock();
        }
    }
    // A post in a strict set. Ends the strictness when it costs more than it saves.
    bool needs_waking_for_now() noexcept {
        const std::uint32_t posts = posts_.load(mo::relaxed) + 1;  // P7
        posts_.store(posts, mo::relaxed);  // P7
        if (posts >= calm_posts_) {
            lock_.lock();
            if (std::exchange(trusted_, false)) {
                word_.fetch_add(0U - strict, mo::relaxed);  // P6
            }
            posts_.store(0, mo::relaxed);  // P7
            lock_.unlock();
        }
        return needs_waking_strict();
    }

    alignas(64) atomic<std::uint32_t> word_{0};
    atomic<std::uint32_t> posts_{0};  // since the last announcement; used while strict
    const bool asymmetric_;
    bool trusted_ = false;
    const std::uint32_t workers_;
    const std::uint32_t calm_posts_;
    time_point last_barrier_{};
    small_mutex lock_;
    sleeper* list_ = nullptr;
};

}  // namespace roost::inline ROOST_ABI::detail
