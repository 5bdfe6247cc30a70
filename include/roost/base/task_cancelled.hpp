#pragma once

#include <roost/base/error.hpp>
#include <roost/base/reason.hpp>

#include <utility>

namespace roost::inline ROOST_ABI {

// Thrown where a task that ended cancelled has no value to return and the caller is no task: block_on(), run(),
// run_until_signal(), awaitable_on().
class task_cancelled : public error {
public:
    explicit task_cancelled(roost::reason why)
        : error(errc::cancelled, "the task ended cancelled: " + why.to_string()), why_(std::move(why)) {}
    [[nodiscard]] const roost::reason& why() const noexcept { return why_; }

private:
    roost::reason why_;
};

}  // namespace roost::inline ROOST_ABI
