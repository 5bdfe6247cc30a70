#include <roost/sync/detail/spin_watch.hpp>

#include <chrono>

namespace roost::inline ROOST_ABI::detail {

namespace {

struct spin_history_tag;

spin_history& history() noexcept { return thread_value<spin_history_tag, spin_history>::get(); }

bool has_company() noexcept {
    static const bool value = hardware_threads() > 1;
    return value;
}

}  // namespace

bool spin_watch::look() noexcept {
    if (!has_company()) {
        return false;  // one processor: no other thread runs while this one spins
    }
    const time_point t = now();
    if (until_ == time_point{}) {
        until_ = std::min(deadline_, t + std::chrono::nanoseconds(budget(history())));
    }
    if (t < until_) {
        next_look_ = pauses_ + first_look;
        return true;
    }
    history() = after_failure(history());
    return false;
}

void spin_watch::note_success() noexcept { history() = after_success(history()); }

}  // namespace roost::inline ROOST_ABI::detail
