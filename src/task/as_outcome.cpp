#include <roost/task/as_outcome.hpp>

namespace roost::inline ROOST_ABI::detail {

// A job's own cancellation goes on; anybody else's is data.
next_step outcome_cancelled(await_link& link, ending, reason& why) noexcept {
    promise_base& waiter = *link.waiter();
    if (waiter.where().is_cancelled()) {
        return next_step::unwind(waiter);
    }
    static_cast<settled_link&>(link).settle_cancelled(std::move(why));
    return next_step::resume(waiter);
}

}  // namespace roost::inline ROOST_ABI::detail
