#include <roost/task/job.hpp>

#include <roost/base/error.hpp>

namespace roost::inline ROOST_ABI {

namespace detail {

void refuse_join_from_inside(const promise_base& frame, const job_core& target) {
    if (target.is_final()) {
        return;
    }
    for (const node* n = &frame.where(); n != nullptr; n = n->parent()) {
        if (n == static_cast<const node*>(&target)) {
            throw error(errc::would_deadlock, "job '" + std::string(job_of(frame).name()) + "' waits for job '" +
                                                  std::string(target.name()) + "', in which it runs itself");
        }
    }
}

}  // namespace detail

bool job::cancel(reason why) const noexcept {
    if (!core_ || core_->is_final()) {
        return false;
    }
    return core_->raise(level::cancel, std::move(why));
}

std::exception_ptr job::error() const noexcept {
    return core_ && core_->state() == job_state::failed ? core_->outcome_link().error() : nullptr;
}

reason job::why() const noexcept {
    if (!core_) {
        return reason::plain_kind(reason_kind::closed);
    }
    return core_->state() == job_state::cancelled ? core_->outcome_link().why() : reason();
}

std::vector<std::exception_ptr> job::others() const {
    return is_finished() && core_ ? core_->suppressed() : std::vector<std::exception_ptr>();
}

std::vector<std::string> job::notes() const { return is_finished() && core_ ? core_->notes() : std::vector<std::string>(); }

}  // namespace roost::inline ROOST_ABI
