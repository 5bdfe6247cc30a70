#include <roost/task/retry.hpp>

#include <roost/task/failure_sink.hpp>

namespace roost::inline ROOST_ABI::detail {

void refuse_no_attempts() { panic("retry with zero attempts has no result"); }

void failed_attempts::add(std::exception_ptr error, const std::vector<std::exception_ptr>& others) {
    last_ = all_.size();
    all_.push_back(std::move(error));
    all_.insert(all_.end(), others.begin(), others.end());
}

failed_attempts::~failed_attempts() {
    for (std::size_t i = last_; is_waiting_ && i < all_.size(); ++i) {
        report_failure("an attempt", "retry", site(), std::move(all_[i]));
    }
}

}  // namespace roost::inline ROOST_ABI::detail
