// Orders N1 to N8: io/detail/readiness.hpp.

// N8 survives compare_exchange as load and store: an event that is overwritten makes no difference to a closed one
// N8 survives compare_exchange as store: as load and store

#include <roost/io/detail/readiness.hpp>

namespace roost::inline ROOST_ABI::io::detail {

using namespace seam;

void readiness::set(bool is_ended) noexcept {
    std::uint32_t seen = word_.load(mo::relaxed);  // N7
    do {
        if ((seen & waited_bit) != 0) {
            take_for_event(is_ended).deliver_last("a descriptor");
            return;
        }
    } while (!word_.compare_exchange_weak(seen, after_event(seen, is_ended), mo::release, mo::relaxed));  // N2
}

roost::detail::wake_chain readiness::take_for_event(bool is_ended) noexcept {
    waiters_.lock();
    // A waiter that was cancelled meanwhile may have been the last one: then set() on another thread needs no lock.
    std::uint32_t seen = word_.load(mo::relaxed);  // N7
    while (!word_.compare_exchange_weak(seen, after_event(seen, is_ended), mo::release, mo::relaxed)) {  // N3
    }
    roost::detail::wake_chain woken = waiters_.take_all();
    waiters_.unlock();
    return woken;
}

void readiness::close() noexcept {
    waiters_.lock();
    std::uint32_t seen = word_.load(mo::relaxed);  // N7
    while (!word_.compare_exchange_weak(seen, (seen & ~waited_bit) | closed_bit, mo::relaxed, mo::relaxed)) {  // N8
    }
    roost::detail::wake_chain woken = waiters_.take_all();
    waiters_.unlock();
    woken.deliver("a descriptor");
}

// Called under the lock. Returns false if there is nothing to wait for.
bool readiness::mark_waited() noexcept {
    std::uint32_t seen = word_.load(mo::acquire);  // N1
    while ((seen & (ready_bit | closed_bit)) == 0) {
        if ((seen & waited_bit) != 0 ||
            word_.compare_exchange_weak(seen, seen | waited_bit, mo::relaxed, mo::acquire)) {  // N4
            return true;
        }
    }
    return false;
}

bool readiness::cancel_locked(waiter& w, claim as) noexcept {
    waiters_.lock();
    const bool claimed = waiters_.take_if_queued(w, as);
    if (claimed && waiters_.is_empty()) {
        word_.store(word_.load(mo::relaxed) & ~waited_bit, mo::relaxed);  // N6 N7
    }
    waiters_.unlock();
    return claimed;
}

roost::detail::wake_chain readiness::take_expired() noexcept {
    roost::detail::wake_chain woken;
    waiters_.lock();
    for (waiter* w = waiters_.front(); w != nullptr;) {
        waiter* next = waiters_.next_of(*w);
        if (!w->is_alternative()) {  // a select has no limit: it has clauses for that
            waiters_.take(*w, claim::expired);
            woken.add(*w);
        }
        w = next;
    }
    if (!woken.is_empty() && waiters_.is_empty()) {
        word_.store(word_.load(mo::relaxed) & ~waited_bit, mo::relaxed);  // N6 N7
    }
    waiters_.unlock();
    return woken;
}

}  // namespace roost::inline ROOST_ABI::io::detail
