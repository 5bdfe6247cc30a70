// Orders L1 and L5: sync/detail/gate_lock.hpp.

#include <roost/sync/detail/gate_lock.hpp>
#include <roost/sync/detail/limits.hpp>

namespace roost::inline ROOST_ABI::detail {

void gate_lock::lock_slow() noexcept {
    int spins = lock_spins;
    do {
        for (std::uint32_t seen = word_.load(mo::relaxed); (seen & held) != 0; seen = word_.load(mo::relaxed)) {  // L5
            if (spins > 0) {
                --spins;
                spin_hint();
            } else {
                wait_briefly(word_, seen);
            }
        }
    } while ((word_.fetch_or(held, mo::seq_cst) & held) != 0);  // L1
}

}  // namespace roost::inline ROOST_ABI::detail
