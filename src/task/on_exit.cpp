#include <roost/task/on_exit.hpp>

namespace roost::inline ROOST_ABI::detail {

constinit const link_ops exit_action::frame_ops{frame_done, false};
constinit const link_ops exit_action::action_ops{action_done, false};

exit_action::exit_action(duration budget, site where) noexcept
    : result_link<void>(&action_ops), budget_(budget), made_at_(where) {
    up_ = this;
}

void exit_action::put_before(promise_base& frame) noexcept {
    link_ = frame.link();
    where_ = &frame.where();
    up_before_ = std::exchange(link_->up_, this);
    ops_before_ = std::exchange(link_->ops_, &frame_ops);
}

// The frame is gone: run the action in its place.
next_step exit_action::frame_done(await_link& link, ending how, reason& why) noexcept {
    exit_action& self = *static_cast<exit_action*>(link.up_);
    link.up_ = self.up_before_;
    link.ops_ = self.ops_before_;
    self.how_ = how;
    self.why_ = std::move(why);
    try {
        timer_service* timers = self.where_->owner().where()->timers();
        self.shield_region::enter(*self.where_, timers, self.made_at_, timers == nullptr ? duration::max() : self.budget_);
    } catch (...) {
        self.run_failed(std::current_exception());
        return self.go_on();
    }
    try {
        promise_base& child = self.make_task();
        child.attach(self, self.inside());
        return next_step::resume(child);
    } catch (...) {
        self.run_failed(std::current_exception());
        self.shield_region::leave();
        return self.go_on();
    }
}

next_step exit_action::action_done(await_link& link, ending how, reason&) noexcept {
    exit_action& self = static_cast<exit_action&>(static_cast<result_link<void>&>(link));
    if (how == ending::threw) {
        self.run_failed(self.error());
    }
    self.shield_region::leave();
    return self.go_on();
}

void exit_action::run_failed(std::exception_ptr error) noexcept {
    static_cast<job_core&>(where_->owner()).add_suppressed(std::move(error));
}

// As if the frame had ended just now, towards whoever awaited it before the action was put in between.
next_step exit_action::go_on() noexcept {
    await_link& link = *link_;
    const ending how = how_;
    reason why = std::move(why_);
    delete this;
    if (link.ops_ != nullptr && (how == ending::cancelled || !link.ops_->only_cancelled())) {
        const next_step step = link.ops_->done(link, how, why);
        if (step.is_unwind() && !runner::of_this_thread().why) {
            runner::of_this_thread().why = std::move(why);
        }
        return step;
    }
    if (how != ending::cancelled) {
        return next_step::resume(*link.waiter());
    }
    runner::of_this_thread().why = std::move(why);
    return next_step::unwind(*link.waiter());
}

}  // namespace roost::inline ROOST_ABI::detail
