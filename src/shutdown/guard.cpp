#include <roost/shutdown/guard.hpp>

#include <roost/shutdown/log.hpp>

namespace roost::inline ROOST_ABI {

void guard::tell_late(const detail::shutdown_node& from, const detail::guard_slot* slot) noexcept {
    std::optional<duration> age;
    if (slot != nullptr) {
        age = detail::age_of(slot->since(), now());
    }
    detail::log_late_guard(from, slot != nullptr ? slot->where() : site(), age);
}

}  // namespace roost::inline ROOST_ABI
