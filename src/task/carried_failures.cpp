#include <roost/task/detail/carried_failures.hpp>

#include <algorithm>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

std::vector<carried_failures::entry>::const_iterator carried_failures::find(
    const std::exception_ptr& thrown) const noexcept {
    return std::find_if(all_.begin(), all_.end(), [&](const entry& e) { return e.thrown == thrown; });
}

void carried_failures::add(const std::exception_ptr& thrown, failure_list others) {
    if (const auto found = find(thrown); found != all_.end()) {
        all_[static_cast<std::size_t>(found - all_.begin())].others.add(others);
        return;
    }
    all_.reserve(exceptions_kept);
    if (all_.size() == exceptions_kept) {
        all_.erase(all_.begin());
    }
    all_.push_back(entry{thrown, std::move(others)});
}

failure_list carried_failures::beside(const std::exception_ptr& thrown) const noexcept {
    const auto found = find(thrown);
    return found == all_.end() ? failure_list() : found->others;
}

failure_list carried_failures::take(const std::exception_ptr& thrown) noexcept {
    failure_list taken;
    if (const auto found = find(thrown); found != all_.end()) {
        taken = std::move(all_[static_cast<std::size_t>(found - all_.begin())].others);
        all_.erase(found);
    }
    return taken;
}

}  // namespace roost::inline ROOST_ABI::detail
