// Orders K2 to K6: sync/detail/parker.hpp.

#include <roost/sync/detail/parker.hpp>
#include <roost/sync/detail/spin_watch.hpp>

namespace roost::inline ROOST_ABI::detail {

bool futex_parker::take_token() noexcept {
    if (word_.load(mo::acquire) != token) {  // K2
        return false;
    }
    word_.store(empty, mo::relaxed);  // K3
    return true;
}

bool futex_parker::park(time_point deadline) noexcept {
    detail::spin_watch spin(deadline);
    do {
        if (take_token()) {
            spin.succeeded();
            return true;
        }
    } while (spin.pause(1));
    std::uint32_t seen = empty;
    bool in_time = true;
    if (word_.compare_exchange_strong(seen, asleep, mo::relaxed, mo::relaxed)) {  // K4
        while (in_time && word_.load(mo::relaxed) == asleep) {                    // K6
            in_time = wait_on_until(word_, asleep, deadline);
        }
    }
    if (take_token()) {
        return true;
    }
    seen = asleep;
    if (word_.compare_exchange_strong(seen, empty, mo::relaxed, mo::acquire)) {  // K5
        return false;
    }
    word_.store(empty, mo::relaxed);  // K3
    return true;
}

bool portable_parker::park(time_point deadline) noexcept {
    lock_.lock();
    bool in_time = true;
    while (!has_token_ && in_time) {
        in_time = woken_.wait_until(lock_, deadline);
    }
    const bool had_token = has_token_;
    has_token_ = false;
    lock_.unlock();
    return had_token;
}

void portable_parker::unpark() noexcept {
    lock_.lock();
    has_token_ = true;
    woken_.notify_one();  // under the lock: the owner cannot return and destroy the parker before unlock()
    lock_.unlock();
}

}  // namespace roost::inline ROOST_ABI::detail
