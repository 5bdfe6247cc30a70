// Orders E2 to E7: sync/event.hpp.

#include <roost/sync/event.hpp>

namespace roost::inline ROOST_ABI {

using namespace ext;

using namespace seam;

event::~event() {
    if (!waiters_.is_quiet()) {
        detail::destroyed_with_waiters(describe(), waiters_.size_approx());
    }
}

void event::set() noexcept {
    std::uint32_t seen = word_.load(mo::relaxed);  // E3
    do {
        if ((seen & waited_bit) != 0) {  // mutate
            set_slow();
            return;
        }
        // Even if it is set already: this caller's writes must be published as well.
    } while (!word_.compare_exchange_weak(seen, set_bit, mo::release, mo::relaxed));  // E2
}

// For an event with waiters, or that had some a moment ago. It becomes set under the lock: a thread that sees it set and
// destroys it blocks in the destructor until this has released the lock.
void event::set_slow() noexcept {
    const char* what = name_;
    waiters_.lock();
    word_.exchange(set_bit, mo::release);  // E4
    detail::wake_chain woken = waiters_.take_all();
    waiters_.unlock();
    woken.deliver(what);
}

bool event::enqueue(waiter& w) noexcept {
    waiters_.lock();
    std::uint32_t seen = 0;
    // Fails with `seen` = waited if others wait already, and with `seen` = set if there is nothing to wait for.
    const bool is_first = word_.compare_exchange_strong(seen, waited_bit, mo::relaxed, mo::acquire);  // E6
    const bool must_wait = is_first || (seen & set_bit) == 0;
    if (must_wait) {
        waiters_.push_back(w);
    }
    waiters_.unlock();
    return must_wait;
}

bool event::cancel(waiter& w, claim as) noexcept {
    if (w.is_claimed()) {
        return false;
    }
    waiters_.lock();
    const bool claimed = waiters_.take_if_queued(w, as);
    if (claimed && waiters_.is_empty()) {
        word_.store(0, mo::relaxed);  // E7
    }
    waiters_.unlock();
    return claimed;
}

}  // namespace roost::inline ROOST_ABI
