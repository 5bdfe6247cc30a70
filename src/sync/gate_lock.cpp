#include <roost/sync/detail/gate_lock.hpp>
#include <roost/sync/detail/limits.hpp>

namespace roost::inline ROOST_ABI::detail {

void gate_lock::lock_slow() noexcept {
    std::uint32_t wanted = held;
    for (int spin = lock_spins;;) {
        std::uint32_t seen = word_.load(mo::relaxed);  // L6
        if ((seen & held) == 0) {
            if (word_.compare_exchange_weak(seen, seen | wanted, mo::seq_cst, mo::relaxed)) {  // L2
                return;
            }
            continue;
        }
        // The holder is inside a handful of instructions, so a short spin usually sees it leave.
        if (spin > 0) {
            --spin;
            spin_hint();
            continue;
        }
        if ((seen & parked) != 0 || word_.compare_exchange_weak(seen, seen | parked, mo::relaxed, mo::relaxed)) {  // L7
            wait_on(word_, seen | parked);
            wanted = held | parked;  // others may still be blocked: the next unlock has to look
        }
    }
}

}  // namespace roost::inline ROOST_ABI::detail
