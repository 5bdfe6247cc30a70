#include <roost/task/until_stop.hpp>

namespace roost::inline ROOST_ABI::detail {

void stop_region::enter(promise_base& from, const token& watched, site made_at) {
    region_ = &inner_region::make(from.region(), "interrupted task", made_at, {});
    callback_.emplace(watched, level::stop, stop_came(*this));
}

void stop_region::leave() noexcept {
    callback_.reset();
    std::exchange(region_, nullptr)->leave_for_good();
}

void stop_region::stop_came::operator()() const noexcept {
    region_->region_->cancel_in_turn(reason::plain_kind(reason_kind::shutdown));
}

}  // namespace roost::inline ROOST_ABI::detail
