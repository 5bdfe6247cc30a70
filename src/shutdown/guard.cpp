#include <roost/shutdown/guard.hpp>

#include <roost/shutdown/log.hpp>

namespace roost::inline ROOST_ABI {

void guard::tell_late() const noexcept {
    std::optional<duration> age;
    if (slot_ != nullptr) {
        age = detail::age_of(slot_->since(), now());
    }
    detail::log_late_guard(*node_, made_at(), age);
}

}  // namespace roost::inline ROOST_ABI
