#include <roost/flow/coalescer.hpp>

#include <roost/task/failure_sink.hpp>

#include <new>

namespace roost::inline ROOST_ABI::detail {

void report_unheard(const std::vector<std::exception_ptr>& failures) noexcept {
    for (const std::exception_ptr& error : failures) {
        report_failure("a coalesced computation", "coalescer", site(), error);
    }
}

void keep_failures(std::vector<std::exception_ptr>& in, const std::exception_ptr& error,
                   const std::vector<std::exception_ptr>& others) noexcept {
    try {
        in.reserve(1 + others.size());
        in.push_back(error);
        in.insert(in.end(), others.begin(), others.end());
    } catch (const std::bad_alloc&) {  // rather twice than not at all
        report_unheard({error});
        report_unheard(others);
    }
}

}  // namespace roost::inline ROOST_ABI::detail
