#include <roost/shutdown/shutdown.hpp>

#include <roost/base/assert.hpp>
#include <roost/shutdown/detail/node_log.hpp>
#include <roost/shutdown/detail/wait.hpp>
#include <roost/shutdown/guard.hpp>

namespace roost::inline ROOST_ABI {

void shutdown::panic_moved_from() noexcept {
    detail::panic("shutdown", {}, site(), "this handle was moved from; use the handle that it was moved to");
}

void guard::log_late(const detail::shutdown_node& from, const detail::guard_slot* slot) noexcept {
    std::optional<duration> age;
    if (slot != nullptr) {
        age = detail::age_of(slot->since(), now());
    }
    detail::log_late_guard(from, slot != nullptr ? slot->site() : roost::site(), age);
}

namespace detail {

bool wait_in_thread_for(shutdown_node& n, wait_for what, time_point deadline) noexcept {
    for (int spin = 0; spin < park_spins; ++spin) {
        if (n.holds(what)) {
            return true;
        }
        spin_hint();
    }
    shutdown_thread_waiter self(what);
    return !n.enqueue(self) || self.block(deadline, [&]() noexcept { return n.cancel_wait(self, claim::expired); });
}

}  // namespace detail

}  // namespace roost::inline ROOST_ABI
