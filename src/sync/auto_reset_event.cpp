#include <roost/sync/auto_reset_event.hpp>

namespace roost::inline ROOST_ABI {

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
        // Even when it is signalled already: this caller's writes must be seen, too.
    } while (!word_.compare_exchange_weak(seen, signalled, mo::release, mo::relaxed));  // A2
}

// Only the lock's holder changes a word that says waited, so plain stores will do.
void auto_reset_event::set_slow() noexcept {
    const char* what = name_;
    waiters_.lock();
    waiter* first = waiters_.pick().who();
    if (first == nullptr) {
        // The last waiter left between our look and the lock, so the fast path is open again and others may be on it.
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
                set();  // decided elsewhere: as if it had never been taken
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
