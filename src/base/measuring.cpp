// Orders M2 to M4: base/detail/measuring.hpp.

#include <roost/base/detail/measuring.hpp>

#include <algorithm>
#include <memory>

namespace roost::inline ROOST_ABI::detail {

constinit atomic<bool> measuring::on_{false};
constinit atomic<fine_histogram*> measuring::times_[timed_kinds] = {};
constinit atomic<std::uint64_t> measuring::counts_[rare_events] = {};

bool measuring::set(bool on) {
    for (atomic<fine_histogram*>& slot : times_) {
        if (on && slot.load(mo::seq_cst) == nullptr) {  // M3
            auto made = std::make_unique<fine_histogram>(std::clamp<std::size_t>(hardware_threads() + 2, 4, 16));
            fine_histogram* none = nullptr;
            if (slot.compare_exchange_strong(none, made.get(), mo::seq_cst, mo::seq_cst)) {  // M4
                static_cast<void>(made.release());
            }
        }
    }
    return on_.exchange(on, mo::seq_cst);  // M2
}

}  // namespace roost::inline ROOST_ABI::detail
