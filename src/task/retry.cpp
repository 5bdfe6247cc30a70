#include <roost/task/retry.hpp>

#include <roost/task/failure_sink.hpp>

namespace roost::inline ROOST_ABI::detail {

void refuse_no_attempts() { panic("retry with zero attempts has no result"); }

namespace {

void keep(std::vector<std::exception_ptr>& in, const std::exception_ptr& error) noexcept {
    try {
        in.push_back(error);
    } catch (const std::bad_alloc&) {
        report_failure("an attempt", "retry", site(), error);
    }
}

}  // namespace

void failed_attempts::keep_last() noexcept {
    for (const std::exception_ptr& error : last_) {
        if (earlier_.size() < failures_kept) {
            keep(earlier_, error);
        }
    }
    last_.clear();
}

void failed_attempts::add(const std::exception_ptr& error, const std::vector<std::exception_ptr>& others) noexcept {
    keep_last();
    keep(last_, error);
    for (const std::exception_ptr& other : others) {
        keep(last_, other);
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
            report_failure("an attempt", "retry", site(), std::move(error));
        }
    }
}

}  // namespace roost::inline ROOST_ABI::detail
