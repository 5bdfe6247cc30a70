#pragma once

// A wait for the end of a job, by an awaiter that takes its result.

#include <roost/task/detail/frame/promise_base.hpp>
#include <roost/task/detail/job/job_core.hpp>
#include <roost/task/detail/job/region.hpp>

#include <coroutine>

namespace roost::inline ROOST_ABI::detail {

// Waits for a job. If the job ends cancelled, the waiting body is unwound instead of resumed.
class settled_wait : private cancellable {
public:
    settled_wait(promise_base& me, job_core& target) noexcept;

    [[nodiscard]] bool await_ready() const noexcept;
    bool await_suspend(std::coroutine_handle<> self) noexcept;

protected:
    // See job_core::run_for_joiner(). Only for a child of the scope that the frame runs in. Otherwise a deadline could end
    // the frame's wait without ending the child, and the frame must not have to wait for it.
    [[nodiscard]] bool run_here() noexcept {
        const region& in = frame().region();
        return target_->parent() == &in && !in.is_cancelled_relaxed() && target_->run_for_joiner();
    }

private:
    [[nodiscard]] bool is_cancelled_target() const noexcept { return target_->outcome_link().state() == ending::cancelled; }
    static void woken(work& self) noexcept;

    static job_core* joined(const cancellable& self) noexcept { return static_cast<const settled_wait&>(self).target_; }

    static const wait_functions functions;
    job_core* target_;
    join_operation wait_;
};

// Throws error(refused), where an empty deferred is awaited.
[[noreturn]] void throw_refused();

}  // namespace roost::inline ROOST_ABI::detail
