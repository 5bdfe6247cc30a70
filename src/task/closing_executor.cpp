#include <roost/task/closing_executor.hpp>

#include <roost/base/error.hpp>
#include <roost/task/checkpoint.hpp>
#include <roost/task/detail/policy_scope.hpp>

namespace roost::inline ROOST_ABI {

namespace {

// Whose body awaits what this job is part of; null for a child of a scope that is no body's.
const detail::job_core* above(const detail::job_core& job) noexcept {
    const detail::scope_core& in = job.parent_scope();
    return in.has_owner() ? &static_cast<const detail::job_core&>(in.owner()) : nullptr;
}

}  // namespace

// A job below whoever was sent here by on() from elsewhere, or that one itself.
void closing_executor::refuse_close_from_inside() const {
    scope_.core().refuse_wait_from_inside();
    const job running = current_job();
    const detail::job_core* sent = running.core();
    for (const detail::job_core* from = nullptr; sent != nullptr; sent = from) {
        from = above(*sent);
        if (sent->where().get() == this && from != nullptr && from->where().get() != this) {
            throw error(errc::would_deadlock, "job '" + std::string(running.name()) + "' waits for the end of executor '" +
                                                  std::string(name()) + "', which waits for it");
        }
    }
}

task<> closing_executor::close() {
    refuse_close_from_inside();
    scope_.cancel(reason::plain_kind(reason_kind::closed));
    co_await scope_.close();
}

void closing_executor::close_blocking() {
    scope_.cancel(reason::plain_kind(reason_kind::closed));
    scope_.close_blocking_on(target_);
}

task<> detail::end_closed() { co_await end_cancelled(reason::plain_kind(reason_kind::closed)); }

}  // namespace roost::inline ROOST_ABI
