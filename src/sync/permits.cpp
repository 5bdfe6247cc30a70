// Orders P4 to P6: sync/detail/permits.hpp.

#include <roost/sync/detail/permits.hpp>

#include <roost/base/detail/report_misuse.hpp>
#include <roost/sync/detail/spin_watch.hpp>

#include <utility>

namespace roost::inline ROOST_ABI::detail {

void report_nothing_held(const char* what, const char* rule) noexcept { report_misuse(what, "", site(), rule); }

permits::~permits() {
    if (!waiters_.is_quiet()) {
        destroyed_with_waiters(describe(), waiters_.size_approx());
    }
}

wait_target permits::describe() const noexcept {
    switch (total_.load(mo::relaxed) & (shared_mutex_kind | semaphore_kind)) {  // P6
        case mutex_kind: return {"mutex", name_};
        case shared_mutex_kind: return {"shared_mutex", name_};
        default: return {"semaphore", name_};
    }
}

void permits::misuse(const char* rule) const noexcept { panic(describe().kind(), name_, site(), rule); }

// Commits next(state) and returns true unless it refuses. Releases may still add permits, and spinning threads may take some,
// so even under the lock this is a loop.
template <class Change>
bool permits::change(Change next) noexcept {
    std::uint32_t seen = word_.load(mo::relaxed);  // P4
    for (;;) {
        const std::optional<permit_state> state = next(permit_state::unpack(seen));
        if (!state) {
            return false;
        }
        if (word_.compare_exchange_weak(seen, state->pack(), mo::acq_rel, mo::relaxed)) {  // P5
            return true;
        }
    }
}

bool permits::try_barge(std::uint32_t n) noexcept {
    return change([n](permit_state s) { return barge(s, n); });
}

// For a release with waiters, or with a count that looks wrong. The permits become available under the lock, so that no thread
// can take them and destroy this object while it is in use here.
void permits::give_slow(std::uint32_t n) noexcept {
    grants out;
    waiters_.lock();
    const std::uint32_t all = total();
    // A first waiter that is out of patience is not overtaken between this and the grant. Any other counts as overtaken if the
    // word was open.
    const waiter* first = waiters_.front();
    const bool closes = first != nullptr && !is_patient(*first);
    bool was_open = false;
    const bool is_sane = change([&](permit_state s) {
        was_open = s.open && !closes;
        s.open = was_open;
        return n > all || s.available > all - n ? std::nullopt : std::optional(detail::give(s, n));
    });
    if (!is_sane) {
        misuse("it was released (unlocked) more often than it was taken; release once for each acquire");
    }
    grant_locked(out, was_open);
    unlock_and_deliver(out);
}

// Grants the first waiter what it needs, then the next, until one needs more than is available. was_open: running threads could
// take what has just been released.
void permits::grant_locked(grants& out, bool was_open) noexcept {
    while (waiter* first = waiters_.front()) {
        if (first->is_alternative() && first->of_choice().is_won()) {
            waiters_.drop(*first);
            continue;
        }
        const std::uint32_t need = static_cast<weighted_waiter*>(first)->weight();
        const bool is_last = waiters_.size_approx() == 1;
        if (leave_to_thread(*first, need, was_open, out) ||
            !change([=](permit_state s) { return grant(s, need, is_last); })) {
            return;
        }
        if (first->is_alternative() && !first->of_choice().try_win(first)) {
            change([=](permit_state s) { return std::optional(detail::give(s, need)); });
            continue;  // its select was won elsewhere meanwhile: the next round unlinks it
        }
        waiters_.take(*first, claim::delivered);
        if (!first->is_notified) {  // a thread whose token is already on the way needs no second one
            out.handed.add(*first);
        }
        was_open = false;
    }
    // The list is empty. The word may still be waited if the last waiter was cancelled.
    change([](permit_state s) {
        const bool is_stale = s.waited;
        s.waited = s.open = false;
        return is_stale ? std::optional(s) : std::nullopt;
    });
}

// Returns true if the first waiter is a thread that takes its permits itself; notifies it once.
bool permits::leave_to_thread(waiter& first, std::uint32_t need, bool was_open, grants& out) noexcept {
    const bool comes = is_patient(first) && available() >= need;
    change([comes](permit_state s) {
        const bool is_stale = s.open != comes;
        s.open = comes;
        return is_stale ? std::optional(s) : std::nullopt;
    });
    if (comes || was_open) {
        first.overtaken = static_cast<std::uint8_t>(first.overtaken + (first.overtaken < thread_patience ? 1 : 0));
    }
    if (!comes) {
        return false;
    }
    if (!std::exchange(first.is_notified, true)) {
        out.called = &first;
    }
    return true;
}

void permits::unlock_and_deliver(grants& out) noexcept {
    const char* what = name_;  // once a waiter has been served, this object may be gone
    waiters_.unlock();
    if (out.called != nullptr) {
        out.called->run();
    }
    out.handed.deliver(what);
}

bool permits::enqueue_locked(weighted_waiter& w) noexcept {
    bool is_queued = false;
    change([&](permit_state s) {
        is_queued = !take(s, w.weight()).has_value();
        return std::optional(detail::enqueue(s, w.weight()));
    });
    if (is_queued) {
        waiters_.push_back(w);
    } else if (w.is_alternative() && !w.of_choice().try_win(static_cast<waiter*>(&w))) {
        change([&](permit_state s) { return std::optional(detail::give(s, w.weight())); });
        is_queued = true;  // counts as queued: the thread that decided its select wakes it
    }
    return is_queued;
}

bool permits::enqueue(weighted_waiter& w) noexcept {
    waiters_.lock();
    const bool is_queued = enqueue_locked(w);
    waiters_.unlock();
    return is_queued;
}

bool permits::cancel(weighted_waiter& w, claim as) noexcept {
    if (w.is_claimed()) {
        return false;
    }
    grants out;
    waiters_.lock();
    const bool claimed = waiters_.take_if_queued(w, as);
    if (claimed) {
        grant_locked(out);  // mutate: it may have been the one that kept the others waiting
    }
    unlock_and_deliver(out);
    return claimed;
}

bool permits::take_in_thread(std::uint32_t n, time_point deadline) noexcept {
    // Growing pauses: each check takes the word's cache line from the holder, which slows it down.
    spin_watch spin(deadline);
    for (int pauses = 1;; pauses = pauses < longest_pause ? pauses * 2 : pauses) {
        if (try_barge(n)) {
            spin.succeeded();
            return true;
        }
        if (!spin.pause(pauses)) {
            break;
        }
    }
    basic_thread_waiter<parker, weighted_waiter> self(n);
    if (!enqueue(self)) {
        return true;
    }
    const bool got = sleep(self, deadline);
    self.finish();
    return got;
}

// Blocks a queued thread until its permits are handed to it, or it was notified and took them, or the deadline passed. Returns
// true if it has them.
template <class Node>
bool permits::sleep(Node& self, time_point deadline) noexcept {
    for (;;) {
        const auto how = self.sleep_in(waiters_, deadline);
        if (how == Node::woken::served) {
            return true;
        }
        const bool is_last = waiters_.size_approx() == 1;
        const bool got =
            waiters_.front() == &self && change([&](permit_state s) { return grant(s, self.weight(), is_last); });
        if (got || how == Node::woken::expired) {
            waiters_.take(self, got ? claim::delivered : claim::expired);
            grants out;
            grant_locked(out);
            unlock_and_deliver(out);
            return got;
        }
        waiters_.unlock();
    }
}

void permits::add(std::uint32_t n) noexcept {
    waiters_.lock();
    const std::uint32_t all = total_.load(mo::relaxed);  // P6
    if (n > permit_state::max - (all & permit_state::max)) {
        misuse("more permits were added than max_permits allows; add fewer");
    }
    total_.store(all + n, mo::relaxed);  // P6
    if constexpr (holdings::is_possible) {
        holdings::raise_total(this, (all & permit_state::max) + n);  // before any of them can be taken
    }
    grants out;
    change([n](permit_state s) { return std::optional(detail::give(s, n)); });
    grant_locked(out);
    unlock_and_deliver(out);
}

std::uint32_t permits::remove(std::uint32_t n) noexcept {
    std::uint32_t removed = 0;
    waiters_.lock();
    change([&](permit_state s) {
        removed = removable(s, n);
        s.available -= removed;
        return removed == 0 ? std::nullopt : std::optional(s);
    });
    total_.store(total_.load(mo::relaxed) - removed, mo::relaxed);  // P6
    waiters_.unlock();
    return removed;
}

std::uint32_t permits::in_use() noexcept {
    waiters_.lock();
    const std::uint32_t used = total() - available();
    waiters_.unlock();
    return used;
}

}  // namespace roost::inline ROOST_ABI::detail
