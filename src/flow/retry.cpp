#include <roost/flow/retry.hpp>

#include <roost/base/failure_sink.hpp>

namespace roost::inline ROOST_ABI::detail {

void refuse_no_attempts(site where) { panic("retry", {}, where, "with zero attempts it has no result; pass at least one"); }

namespace {

void keep(std::vector<std::exception_ptr>& in, const std::exception_ptr& error, site where) noexcept {
    try {
        in.push_back(error);
    } catch (const std::bad_alloc&) {
        report_failure("an attempt of retry", "", where, error);
    }
}

}  // namespace

void failed_attempts::keep_last() noexcept {
    for (const std::exception_ptr& error : last_) {
        if (earlier_.size() < failures_kept) {
            keep(earlier_, error, where_);
        }
    }
    last_.clear();
}

void failed_attempts::add(const std::exception_ptr& error, const std::vector<std::exception_ptr>& others) noexcept {
    keep_last();
    keep(last_, error, where_);
    for (const std::exception_ptr& other : others) {
        keep(last_, other, where_);
    }
    is_waiting_ = true;
}

std::vector<std::exception_ptr>& failed_attempts::all() noexcept {
    keep_last();
    return earlier_;
}

failed_attempts::~failed_attempts() {
    if (is_waiting_) {
        for (std::exception_ptr& error : last_) {
            report_failure("an attempt of retry", "", where_, std::move(error));
        }
    }
}

}  // namespace roost::inline ROOST_ABI::detail
