#include <roost/task/on_exit.hpp>

namespace roost::inline ROOST_ABI::detail {

constinit const link_ops exit_action::action_ops{action_done, above_action};

exit_action::exit_action(duration budget, site where) noexcept
    : link_ops(frame_done, above_frame), result_link<void>(&action_ops), budget_(budget), made_at_(where) {}

void exit_action::put_before(promise_base& frame) noexcept {
    link_ = frame.link();
    where_ = where_now(frame);
    before_ = is_buried(frame) ? await_link::put_below(runner::of_this_thread().buried->before(), *this)
                               : link_->put_between(*this);
}

promise_base* exit_action::above_frame(const link_ops& self, await_link& link) noexcept {
    return await_link::above(link, static_cast<const exit_action&>(self).before_);
}

promise_base* exit_action::above_action(const link_ops& /*self*/, await_link& link) noexcept {
    return static_cast<exit_action&>(static_cast<result_link<void>&>(link)).link_->above();
}

// The frame is gone: runs the action in its place.
next_step exit_action::frame_done(await_link& link, ending how, reason& why) noexcept {
    exit_action& self = const_cast<exit_action&>(static_cast<const exit_action&>(link.ops()));
    link.take_out(self.before_);
    self.how_ = how;
    self.why_ = std::move(why);
    try {
        timer_service* timers = self.where_->owner().executor()->timers();
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

void exit_action::run_failed(std::exception_ptr error) noexcept { where_->owner().add_suppressed(std::move(error)); }

// Continues as if the frame had ended just now, for the link that the frame had before the action was inserted.
next_step exit_action::go_on() noexcept {
    await_link& link = *link_;
    const ending how = how_;
    reason why = std::move(why_);
    delete this;
    return pass_on_end(link, how, why);
}

}  // namespace roost::inline ROOST_ABI::detail
