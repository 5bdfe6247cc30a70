#include <roost/task/job.hpp>

#include <roost/base/error.hpp>

namespace roost::inline ROOST_ABI {

namespace detail {

namespace {

constexpr int longest_cycle = 64;

// Follows the jobs that wait for a job, each in its own region; calls see(name) for each. Returns true if they lead back to
// `me`.
template <class See>
bool leads_back(const job_core& me, const job_core& target, See see) {
    auto at = node_ref<job_core>::share(const_cast<job_core&>(target));
    for (int i = 0; i < longest_cycle; ++i) {
        job_core* const next = at->joined_job();
        if (next == nullptr) {
            return false;
        }
        at = node_ref<job_core>::adopt(next);
        see(at->name());
        if (at.get() == &me) {
            return true;
        }
    }
    return false;
}

void refuse_join_cycle(const job_core& me, const job_core& target) {
    if (!leads_back(me, target, [](std::string_view) {})) {
        return;
    }
    std::string chain = "job '" + std::string(me.name()) + "' waits for job '" + std::string(target.name()) + "', which";
    static_cast<void>(leads_back(me, target, [&chain, is_first = true](std::string_view name) mutable {
        chain += std::exchange(is_first, false) ? " waits for job '" : " and that for job '";
        chain += std::string(name) + "'";
    }));
    throw error(errc::would_deadlock, chain + ": none of them could ever end");
}

}  // namespace

void refuse_join_from_inside(const promise_base& frame, const job_core& target) {
    if (target.is_final()) {
        return;
    }
    for (const node* n = &frame.region(); n != nullptr; n = n->parent()) {
        if (n == static_cast<const node*>(&target)) {
            const std::string me = "job '" + std::string(job_of(frame).name()) + "'";
            throw error(errc::would_deadlock,
                        static_cast<const node*>(&job_of(frame)) == n
                            ? me + " joins itself, so it would never end; remove the join: its scope waits for it"
                            : me + " joins job '" + std::string(target.name()) +
                                  "', which waits for it; remove the join: the scope waits for both");
        }
    }
    refuse_join_cycle(job_of(frame), target);
}

}  // namespace detail

bool job::cancel(reason why) const noexcept {
    if (!core_ || core_->is_final()) {
        return false;
    }
    return core_->raise(level::cancel, std::move(why));
}

bool job::abort(reason why) const noexcept {
    if (!core_ || core_->is_final()) {
        return false;
    }
    return core_->raise(level::abort, std::move(why));
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
    return is_finished() && core_ ? core_->suppressed().to_vector(error()) : std::vector<std::exception_ptr>();
}

std::vector<std::string> job::notes() const { return is_finished() && core_ ? core_->notes() : std::vector<std::string>(); }

}  // namespace roost::inline ROOST_ABI
