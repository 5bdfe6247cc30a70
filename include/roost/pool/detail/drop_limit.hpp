#pragma once

#include <roost/exec/timer.hpp>
#include <roost/tree/detail/node.hpp>

namespace roost::inline ROOST_ABI::detail {

// The limit of a destruction without a slot: of a resource that arrived late. At the limit it cancels the job that destroys. The
// end of that job destroys the drop_limit, possibly inside the call that cancels.
class drop_limit final : private timer {
public:
    explicit drop_limit(timer_service& timers) noexcept : timer(fired), timers_(&timers) {}
    drop_limit(const drop_limit&) = delete;
    drop_limit& operator=(const drop_limit&) = delete;
    ~drop_limit() {
        if (is_armed_) {
            static_cast<void>(timers_->disarm(*this));  // with either result, the timer does not fire any more
        }
    }

    // Starts the limit. Called once, before the end of the job is processed.
    void begin(node& job, duration limit) noexcept {
        job_ = node_ref<node>::share(job);
        set_deadline(deadline_after(timers_->now(), limit));
        is_armed_ = timers_->arm(*this);
    }

private:
    static void fired(timer& self) noexcept {
        const node_ref<node> job = static_cast<drop_limit&>(self).job_;  // `self` may be destroyed during the cancel
        job->cancel(reason::plain_kind(reason_kind::timeout));
    }

    timer_service* const timers_;
    node_ref<node> job_;
    bool is_armed_ = false;
};

}  // namespace roost::inline ROOST_ABI::detail
