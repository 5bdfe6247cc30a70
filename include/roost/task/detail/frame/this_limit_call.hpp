#pragma once

// What `co_await this_limit()` awaits.

#include <roost/task/detail/frame/promise_base.hpp>
#include <roost/task/detail/frame/ready_await.hpp>
#include <roost/task/detail/job/limit_region.hpp>
#include <roost/task/detail/job/region.hpp>
#include <roost/task/running_limit.hpp>

namespace roost::inline ROOST_ABI::detail {

class this_limit_call {
public:
    this_limit_call() noexcept = default;
    [[nodiscard]] ready_await<running_limit> in_task(promise_base& me) const noexcept {
        region* const in = where_now(me);
        limit_region* found = in == nullptr ? nullptr : limit_region::around(*in);
        return ready_await<running_limit>(found == nullptr ? running_limit()
                                                           : running_limit(node_ref<limit_region>::share(*found)));
    }
};

}  // namespace roost::inline ROOST_ABI::detail

namespace roost::inline ROOST_ABI {

inline detail::this_limit_call this_limit() noexcept { return {}; }

}  // namespace roost::inline ROOST_ABI
