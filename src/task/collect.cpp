#include <roost/task/collect.hpp>

#include <roost/task/failure_sink.hpp>

#include <algorithm>
#include <mutex>

namespace roost::inline ROOST_ABI::detail {

void collection::add(const std::exception_ptr& error, const job_core* child) noexcept {
    try {
        const std::lock_guard guard(lock_);
        if (std::find(failures_.begin(), failures_.end(), error) == failures_.end()) {
            failures_.push_back(error);
        }
        return;
    } catch (const std::bad_alloc&) {  // never silent
    }
    report_failure("a collected child", child == nullptr ? "body" : child->name(),
                   child == nullptr ? site() : child->made_at(), error);
}

void collection::child_ended(scope_core& scope, job_core& child) noexcept {
    auto& mine = const_cast<collection&>(static_cast<const collection&>(scope.policy()));
    if (child.outcome_link().state() == ending::threw) {
        mine.add(child.outcome_link().error(), &child);
    }
    for (const std::exception_ptr& other : child.suppressed()) {
        mine.add(other, &child);
    }
}

}  // namespace roost::inline ROOST_ABI::detail
