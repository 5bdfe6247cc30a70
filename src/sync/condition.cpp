// Orders N1 to N4: sync/condition.hpp.

#include <roost/sync/condition.hpp>

namespace roost::inline ROOST_ABI {

using namespace ext;

using namespace seam;

condition::~condition() {
    if (!waiters_.is_quiet()) {
        detail::destroyed_with_waiters(describe(), waiters_.size_approx());
    }
}

mutex& condition::mutex_of(mutex::guard& held) const noexcept {
    mutex* m = held.release();
    if (m == nullptr) {
        detail::panic("condition", name_, site(),
                      "it was waited for with a guard that holds no mutex; lock the mutex, and pass its guard");
    }
    return *m;
}

void condition::enqueue(waiter& w) noexcept {
    waiters_.lock();
    if (!w.is_thread()) {
        static_cast<node&>(w).at.store(queued::here, mo::relaxed);  // N3
    }
    waiters_.push_back(w);  // mutate
    waiters_.unlock();
}

// Coroutines move to the queue of their mutex, or get it at once. Threads are woken and lock it themselves.
void condition::notify(std::size_t n) noexcept {
    const char* what = name_;
    const queued how = n == 1 ? queued::moved_for_one : queued::moved;
    detail::wake_chain woken;
    waiters_.lock();
    for (; n > 0 && !waiters_.is_empty(); --n) {
        waiter& first = *waiters_.front();
        if (first.is_thread()) {
            waiters_.take(first, claim::delivered);
            woken.add(first);
            continue;
        }
        auto& moving = static_cast<node&>(first);
        waiters_.take(first, claim::idle);
        const bool granted = detail::sync_access::permits_of(*moving.wanted.get()).grant_or_enqueue(moving, [&]() noexcept {
            moving.at.store(how, mo::release);  // N1
        });
        if (granted) {
            woken.add(first);
        }
    }
    waiters_.unlock();
    woken.deliver(what);
}

// After the move the condition may be destroyed, unless notify_one() chose the waiter.
bool condition::cancel_moved(node& w, claim as, queued at) noexcept {
    if (!detail::sync_access::permits_of(*w.wanted.get()).cancel(w, as)) {
        return false;
    }
    if (at == queued::moved_for_one) {
        notify_one();  // mutate
    }
    return true;
}

bool condition::cancel(node& w, claim as) noexcept {
    if (w.is_claimed()) {
        return false;
    }
    queued at = w.at.load(mo::acquire);  // N2
    if (at != queued::here) {
        return cancel_moved(w, as, at);
    }
    waiters_.lock();
    at = w.at.load(mo::relaxed);  // N4
    const bool claimed = at == queued::here && waiters_.take_if_queued(w, as);
    waiters_.unlock();
    return at == queued::here ? claimed : cancel_moved(w, as, at);
}

bool condition::cancel_thread(waiter& w) noexcept {
    if (w.is_claimed()) {
        return false;
    }
    waiters_.lock();
    const bool claimed = waiters_.take_if_queued(w, claim::expired);
    waiters_.unlock();
    return claimed;
}

bool condition::wait_blocking(mutex::guard& held, time_limit deadline) noexcept {
    mutex& m = mutex_of(held);
    detail::thread_waiter self;
    enqueue(self);
    m.unlock();
    const bool in_time = self.block(deadline, [&]() noexcept { return cancel_thread(self); });
    held = m.lock_blocking();
    return in_time;
}

bool condition::operation::start(const resume_target& target) noexcept {
    mutex& m = on_->mutex_of(*held_);
    node_.bind(target);
    node_.wanted.set(&m);
    on_->enqueue(node_);
    m.unlock();  // may resume and destroy this very operation
    return true;
}

void condition::operation::end_wait() noexcept {
    if (node_.finish() == claim::delivered) {
        held_->hold(*node_.wanted.get());
    }
}

condition::operation::~operation() {
    if (!node_.is_started()) {
        if (node_.is_unused()) {
            detail::never_awaited(on_->describe(), "wait(held)");
        }
        return;
    }
    if (node_.state() == claim::delivered) {
        if (node_.at.load(mo::relaxed) == queued::moved_for_one) {  // N4
            on_->notify(1);  // mutate
        }
        node_.wanted.get()->unlock();
    } else if (node_.state() == claim::waiting && !try_cancel()) {
        detail::destroyed_while_woken(waits_on());
    }
}

}  // namespace roost::inline ROOST_ABI
