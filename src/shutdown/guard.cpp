#include <roost/shutdown/guard.hpp>

#include <roost/base/assert.hpp>
#include <roost/shutdown/detail/node_log.hpp>
#include <roost/shutdown/shutdown.hpp>

namespace roost::inline ROOST_ABI {

void guard::log_late(const detail::shutdown_node& from, const detail::guard_slot* slot) noexcept {
    std::optional<duration> age;
    if (slot != nullptr) {
        age = detail::age_of(slot->since(), now());
    }
    detail::log_late_guard(from, slot != nullptr ? slot->site() : roost::site(), age);
}

void shutdown::panic_moved_from() noexcept {
    detail::panic("shutdown", {}, site(), "this handle was moved from; use the handle that it was moved to");
}

}  // namespace roost::inline ROOST_ABI
