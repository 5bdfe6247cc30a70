#include <roost/task/as_outcome.hpp>

namespace roost::inline ROOST_ABI::detail {

next_step outcome_cancelled(promise_base& waiter, settled_link& link, reason& why) noexcept {
    if (waiter.region().is_cancelled_relaxed()) {
        return next_step::unwind(waiter);
    }
    link.settle_cancelled(std::move(why));
    return next_step::resume(waiter);
}

}  // namespace roost::inline ROOST_ABI::detail
