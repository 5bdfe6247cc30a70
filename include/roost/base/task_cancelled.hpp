#pragma once

#include <roost/base/error.hpp>
#include <roost/base/reason.hpp>

#include <utility>

namespace roost::inline ROOST_ABI {

// Thrown by block_on(), run(), run_until_signal() and awaitable_on() if the task ended cancelled.
class task_cancelled : public error {
public:
    explicit task_cancelled(roost::reason why)
        : error(errc::cancelled, "the task ended cancelled: " + why.to_string()), why_(std::move(why)) {}
    [[nodiscard]] const roost::reason& why() const noexcept { return why_; }

private:
    roost::reason why_;
};

}  // namespace roost::inline ROOST_ABI
