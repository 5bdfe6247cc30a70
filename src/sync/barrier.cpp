#include <roost/sync/barrier.hpp>

namespace roost::inline ROOST_ABI {

using namespace ext;

barrier::~barrier() {
    if (!waiters_.is_quiet()) {
        detail::destroyed_with_waiters({"barrier", name_}, waiters_.size_approx());
    }
}

// Arrives as `how` says, then queues w, if not null, unless the phase is over. Sets `of` to the phase of the arrival. Returns
// true if w was queued.
bool barrier::enqueue(waiter* w, arrival how, phase& of) noexcept {
    const char* what = name_;
    detail::wake_chain woken;
    waiters_.lock();
    if (how != arrival::none) {
        if (state_.remaining == 0) {
            detail::panic(
                "barrier", name_, site(),
                "a participant arrived after every participant had dropped out; count participants and arrivals alike");
        }
        of = state_.phase;
        state_ = how == arrival::last ? dropped(state_) : arrived(state_);
        if (state_.phase != of) {
            woken = waiters_.take_all();  // mutate
        }
    }
    const bool must_wait = w != nullptr && state_.phase == of;
    if (must_wait) {
        waiters_.push_back(*w);
    }
    waiters_.unlock();
    woken.deliver(what);
    return must_wait;
}

barrier::phase barrier::arrive() noexcept {
    phase of = 0;
    static_cast<void>(enqueue(nullptr, arrival::one, of));
    return of;
}

void barrier::arrive_and_drop() noexcept {
    phase of = 0;
    static_cast<void>(enqueue(nullptr, arrival::last, of));
}

bool barrier::try_wait(phase of) noexcept {
    waiters_.lock();
    const bool is_over = state_.phase != of;
    waiters_.unlock();
    return is_over;
}

bool barrier::block(arrival how, phase of, time_point deadline) noexcept {
    detail::thread_waiter self;
    return !enqueue(&self, how, of) || self.block(deadline, [&]() noexcept { return cancel(self, claim::expired); });
}

bool barrier::arrive_and_wait_blocking(time_limit deadline) noexcept { return block(arrival::one, 0, deadline); }

bool barrier::wait_blocking(phase of, time_limit deadline) noexcept { return block(arrival::none, of, deadline); }

bool barrier::cancel(waiter& w, claim as) noexcept {
    if (w.is_claimed()) {
        return false;
    }
    waiters_.lock();
    const bool claimed = waiters_.take_if_queued(w, as);
    waiters_.unlock();
    return claimed;
}

}  // namespace roost::inline ROOST_ABI
