// Orders O2 to O6: sync/once.hpp.

#include <roost/sync/once.hpp>

namespace roost::inline ROOST_ABI {

using namespace ext;

using namespace seam;

using detail::once_state;

once::~once() {
    if (!waiters_.is_quiet()) {
        detail::destroyed_with_waiters(describe(), waiters_.size_approx());
    }
}

bool once::try_start() noexcept {
    std::uint32_t seen = once_state{}.pack();
    return word_.compare_exchange_strong(seen, once_state{once_state::running, false}.pack(), mo::acquire,
                                         mo::relaxed);  // O3
}

once::turn once::try_enter() noexcept { return try_start() ? turn(*this) : turn(); }

once::turn once::enter_blocking() noexcept { return enter_blocking(no_deadline); }

once::turn once::enter_blocking(time_limit deadline) noexcept {
    turn mine;
    static_cast<void>(enter_until(deadline, mine));
    return mine;
}

bool once::enter_until(time_point deadline, turn& mine) noexcept {
    if (is_done()) {
        return true;
    }
    detail::thread_waiter self;
    claim how = claim::idle;
    if (enqueue(self)) {
        how = self.block_for_claim(deadline, [&]() noexcept { return cancel(self, claim::expired); });
    }
    mine = result(how);
    return how != claim::expired;
}

// Without waiting, either it is done or this caller has the turn. Both leave the waiter idle, so the word distinguishes them:
// it cannot be done while this caller has the turn.
once::turn once::result(claim how) noexcept {
    const bool is_mine = how == claim::delivered || (how == claim::idle && !is_done());
    return is_mine ? turn(*this) : turn();
}

bool once::enqueue(waiter& w) noexcept {
    waiters_.lock();
    std::uint32_t seen = word_.load(mo::relaxed);  // O5
    std::uint32_t next = 0;
    do {
        next = detail::enter(once_state::unpack(seen)).pack();
    } while (!word_.compare_exchange_weak(seen, next, mo::relaxed, mo::relaxed));  // O4
    const bool must_wait = once_state::unpack(seen).phase == once_state::running;
    if (must_wait) {
        waiters_.push_back(w);
    }
    waiters_.unlock();
    return must_wait;
}

// Called by the owner of the turn. Always takes the lock: it is rare, once per turn.
void once::finish(bool succeeded) noexcept {
    const char* what = name_;
    detail::wake_chain woken;
    waiters_.lock();
    const once_state next = succeeded ? detail::succeed() : detail::fail(waiters_.size_approx());
    word_.store(next.pack(), mo::release);  // O2
    if (succeeded) {
        woken = waiters_.take_all();
    } else if (waiter* heir = waiters_.front()) {
        waiters_.take(*heir, claim::delivered);
        woken.add(*heir);
    }
    waiters_.unlock();
    woken.deliver(what);
}

bool once::cancel(waiter& w, claim as) noexcept {
    if (w.is_claimed()) {
        return false;
    }
    waiters_.lock();
    const bool claimed = waiters_.take_if_queued(w, as);
    if (claimed && waiters_.is_empty()) {
        word_.store(once_state{once_state::running, false}.pack(), mo::relaxed);  // O6
    }
    waiters_.unlock();
    return claimed;
}

}  // namespace roost::inline ROOST_ABI
