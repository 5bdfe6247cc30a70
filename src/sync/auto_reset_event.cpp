// Orders A1 to A7: sync/auto_reset_event.hpp.

#include <roost/sync/auto_reset_event.hpp>

namespace roost::inline ROOST_ABI {

using namespace ext;

using namespace seam;

auto_reset_event::~auto_reset_event() {
    if (!waiters_.is_quiet()) {
        detail::destroyed_with_waiters(describe(), waiters_.size_approx());
    }
}

void auto_reset_event::set() noexcept {
    std::uint32_t seen = word_.load(mo::relaxed);  // A1
    do {
        if (seen == waited) {
            set_slow();
            return;
        }
        // Even if it is signalled already: this caller's writes must be published as well.
    } while (!word_.compare_exchange_weak(seen, signalled, mo::release, mo::relaxed));  // A2
}

// While waited is set only the lock's holder changes the word, so plain stores suffice.
void auto_reset_event::set_slow() noexcept {
    const char* what = name_;
    waiters_.lock();
    waiter* first = waiters_.pick().who();
    if (first == nullptr) {
        // The last waiter left between the load and the lock, so other threads may be on the fast path again.
        word_.exchange(signalled, mo::release);  // A4
        waiters_.unlock();
        return;
    }
    waiters_.take(*first, claim::delivered);
    if (waiters_.is_empty()) {
        word_.store(idle, mo::relaxed);  // A6
    }
    waiters_.unlock();
    first->deliver(what);
}

bool auto_reset_event::enqueue(waiter& w) noexcept {
    waiters_.lock();
    for (std::uint32_t seen = signalled; waiters_.is_empty();) {
        if (word_.compare_exchange_strong(seen, idle, mo::acquire, mo::relaxed)) {  // A5
            waiters_.unlock();
            if (w.is_alternative() && !w.of_choice().try_win(&w)) {
                set();  // its select was decided elsewhere: put the signal back
                return true;
            }
            return false;
        }
        seen = idle;
        if (word_.compare_exchange_strong(seen, waited, mo::relaxed, mo::relaxed)) {  // A7
            break;
        }
        seen = signalled;
    }
    waiters_.push_back(w);
    waiters_.unlock();
    return true;
}

bool auto_reset_event::cancel(waiter& w, claim as) noexcept {
    if (w.is_claimed()) {
        return false;
    }
    waiters_.lock();
    const bool claimed = waiters_.take_if_queued(w, as);
    if (claimed && waiters_.is_empty()) {
        word_.store(idle, mo::relaxed);  // A6
    }
    waiters_.unlock();
    return claimed;
}

}  // namespace roost::inline ROOST_ABI
