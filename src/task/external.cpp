#include <roost/task/external.hpp>

namespace roost::inline ROOST_ABI::detail {

std::exception_ptr dropped_promise(std::string_view name) noexcept {
    try {
        throw error(errc::promise_dropped, "the promise of '" + std::string(name) + "' was dropped unset");
    } catch (...) {
        return std::current_exception();
    }
}

void abandon_external::operator()() noexcept {
    if (job_->claim_outcome()) {
        job_->outcome_link().settle_cancelled(job_->why());
        job_->end_body();
    }
}

}  // namespace roost::inline ROOST_ABI::detail
