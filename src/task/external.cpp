#include <roost/task/external.hpp>

namespace roost::inline ROOST_ABI::detail {

// On the scope's executor.
void abandon_external::operator()() noexcept {
    if (claim_->take()) {
        job_->outcome_link().settle_cancelled(job_->why());
        job_->end_body();
    }
}

}  // namespace roost::inline ROOST_ABI::detail
