#include <roost/task/others_of.hpp>

#include <roost/task/detail/job_core.hpp>

namespace roost::inline ROOST_ABI {

std::vector<std::exception_ptr> others_of(const std::exception_ptr& caught) {
    const detail::job_core* running = detail::job_core::current();
    return running == nullptr ? std::vector<std::exception_ptr>() : running->carried(caught).to_vector(caught);
}

}  // namespace roost::inline ROOST_ABI
