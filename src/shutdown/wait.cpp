#include <roost/shutdown/detail/wait.hpp>

namespace roost::inline ROOST_ABI::detail {

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

}  // namespace roost::inline ROOST_ABI::detail
