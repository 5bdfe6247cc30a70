// Orders C1 to C8: sync/latch.hpp.

#include <roost/sync/latch.hpp>

namespace roost::inline ROOST_ABI {

using namespace ext;

using namespace seam;

latch::~latch() {
    if (!waiters_.is_quiet()) {
        detail::destroyed_with_waiters(describe(), waiters_.size_approx());
    }
}

void latch::check(std::uint32_t seen, std::uint32_t n) const noexcept {
    if (seen / unit < n) {
        detail::panic("latch", name_, site(),
                      "it was counted down more often than its count; make it with one count for each count_down()");
    }
}

void latch::count_down(std::uint32_t n) noexcept {
    std::uint32_t seen = word_.load(mo::relaxed);  // C1
    do {
        check(seen, n);
        if (seen / unit == n && (seen & waited_bit) != 0) {
            count_down_slow(n);
            return;
        }
    } while (!word_.compare_exchange_weak(seen, seen - n * unit, mo::release, mo::relaxed));  // C2
}

// The last count-down of a latch with waiters happens under the lock: a thread that sees it open and destroys it blocks in the
// destructor until this has released the lock. No other thread may count any more, so the count is still n; only the waiters
// may have left.
// C6 survives exchange as load and store: no other thread changes the word then, and the mutant's load acquires what the
// exchange carries on
void latch::count_down_slow(std::uint32_t n) noexcept {
    const char* what = name_;
    waiters_.lock();
    check(word_.exchange(0, mo::release), n);  // C6
    detail::wake_chain woken = waiters_.take_all();
    waiters_.unlock();
    woken.deliver(what);
}

bool latch::enqueue(waiter& w) noexcept {
    waiters_.lock();
    std::uint32_t seen = unit;
    bool must_wait = true;
    while (!word_.compare_exchange_weak(seen, seen | waited_bit, mo::relaxed, mo::acquire)) {  // C4
        if (seen < unit) {
            must_wait = false;
            break;
        }
    }
    if (must_wait) {
        waiters_.push_back(w);
    }
    waiters_.unlock();
    return must_wait;
}

// Counts and queues in one step: a thread that opens the latch from now on finds this waiter, or waits for the lock.
bool latch::arrive(waiter& w, std::uint32_t n) noexcept {
    const char* what = name_;
    detail::wake_chain woken;
    waiters_.lock();
    std::uint32_t seen = word_.load(mo::relaxed);  // C1
    std::uint32_t next = 0;
    do {
        check(seen, n);
        next = seen / unit == n ? 0 : (seen - n * unit) | waited_bit;
    } while (!word_.compare_exchange_weak(seen, next, mo::acq_rel, mo::relaxed));  // C8
    if (next != 0) {
        waiters_.push_back(w);
    } else {
        woken = waiters_.take_all();
    }
    waiters_.unlock();
    woken.deliver(what);
    return next != 0;
}

bool latch::arrive_and_wait_blocking(time_limit deadline, std::uint32_t n) noexcept {
    detail::thread_waiter self;
    return !arrive(self, n) || self.block(deadline, [&]() noexcept { return cancel(self, claim::expired); });
}

bool latch::cancel(waiter& w, claim as) noexcept {
    if (w.is_claimed()) {
        return false;
    }
    waiters_.lock();
    const bool claimed = waiters_.take_if_queued(w, as);
    if (claimed && waiters_.is_empty()) {
        word_.fetch_and(~waited_bit, mo::relaxed);  // C5
    }
    waiters_.unlock();
    return claimed;
}

}  // namespace roost::inline ROOST_ABI
