#include <roost/io/detail/wait_limit.hpp>

namespace roost::inline ROOST_ABI::io::detail {

void wait_limit::set(duration longest) noexcept {
    lock_.lock();
    longest_ = longest;
    lock_.unlock();
}

void wait_limit::pause() noexcept {
    lock_.lock();
    pause_ = pause_state::wanted;
    lock_.unlock();
}

bool wait_limit::take_pause() noexcept {
    lock_.lock();
    const bool taken = pause_ == pause_state::wanted;
    if (taken) {
        pause_ = pause_state::taken;
    }
    lock_.unlock();
    return taken;
}

void wait_limit::begin(ext::timer_service* timers) noexcept {
    lock_.lock();
    const bool pauses = pause_ == pause_state::taken;
    if (timers == nullptr || (longest_ == duration::max() && !pauses)) {
        until_ = no_deadline;  // the timer of an earlier wait may still be armed
        lock_.unlock();
        return;
    }
    pause_ = pauses ? pause_state::timed : pause_;
    timers_ = timers;
    until_ = ext::deadline_after(timers->now(), pauses ? pause_length : longest_);
    if (is_armed() && !moving_ && (armed_at_ != timers || until_ < deadline())) [[unlikely]] {
        move();
    }
    if (!is_armed() && !moving_ && !ending_) {
        arm();
    }
    lock_.unlock();
}

void wait_limit::arm() noexcept {
    set_deadline(until_);
    armed_at_ = timers_;
    armed_ = timers_->arm(*this);  // false: the timers have ended, and with them this runtime
}

// Releases the lock meanwhile. Neither fired() nor another begin() arms the timer before this returns.
void wait_limit::move() noexcept {
    moving_ = true;
    ext::timer_service* const from = service;
    lock_.unlock();
    static_cast<void>(from->disarm(*this));
    lock_.lock();
    moving_ = false;
    armed_ = false;
}

// Touches nothing of the stream after the lock: end() waits only for a timer that is armed.
void wait_limit::fired(ext::timer& self) noexcept {
    auto& mine = static_cast<wait_limit&>(self);
    mine.lock_.lock();
    roost::detail::wake_chain woken;
    mine.armed_ = false;
    if (mine.until_ > mine.timers_->now()) {
        if (mine.until_ != no_deadline && !mine.moving_ && !mine.ending_) {
            mine.arm();
        }
    } else if (mine.pause_ == pause_state::timed) {
        mine.pause_ = pause_state::none;
        woken = mine.of_->take_for_event(false);
    } else {
        // Under the lock: a wait that is queued from now on moves until_ first, and arms the timer again.
        woken = mine.of_->take_expired();
    }
    mine.lock_.unlock();
    woken.deliver("a timeout");
}

void wait_limit::end() noexcept {
    lock_.lock();
    ending_ = true;
    ext::timer_service* const from = is_armed() ? service : nullptr;
    lock_.unlock();
    if (from != nullptr) {
        static_cast<void>(from->disarm(*this));  // waits for a fired() that waits for the lock
    }
}

}  // namespace roost::inline ROOST_ABI::io::detail
