#include <roost/tree/token.hpp>

namespace roost::inline ROOST_ABI {

// A unit of work keeps the node, and so its executor, from ending while the clock is asked.
duration token::remaining() const noexcept {
    if (!node_ || node_->functions().clock == nullptr || !node_->try_enter_as_member()) {
        return remaining(now());
    }
    const time_point at = node_->functions().clock(*node_);
    node_->leave();
    return remaining(at);
}

}  // namespace roost::inline ROOST_ABI
