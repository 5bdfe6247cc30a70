#include <roost/flow/detail/coalescing_table.hpp>

#include <roost/base/failure_sink.hpp>

#include <new>

namespace roost::inline ROOST_ABI::detail {

void report_unreceived(const std::vector<std::exception_ptr>& failures, std::string_view name, site made_at) noexcept {
    for (const std::exception_ptr& error : failures) {
        report_failure("a coalesced computation", name, made_at, error);
    }
}

void keep_failures(std::vector<std::exception_ptr>& in, const std::exception_ptr& error,
                   const std::vector<std::exception_ptr>& others, std::string_view name, site made_at) noexcept {
    try {
        in.reserve(1 + others.size());
        in.push_back(error);
        in.insert(in.end(), others.begin(), others.end());
    } catch (const std::bad_alloc&) {  // rather twice than not at all
        report_failure("a coalesced computation", name, made_at, error);
        report_unreceived(others, name, made_at);
    }
}

}  // namespace roost::inline ROOST_ABI::detail
