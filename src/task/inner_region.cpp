// Order B1: task/detail/job/inner_region.hpp.

#include <roost/task/detail/job/inner_region.hpp>

#include <roost/task/detail/job/stop_region.hpp>

namespace roost::inline ROOST_ABI::detail {

constinit const node_functions inner_region::functions{.kind = "region",
                                                       .destroy = destroy,
                                                       .level_raised = region::level_raised,
                                                       .describe = region::describe,
                                                       .clock = region::clock,
                                                       .own = own_work::none};

inner_region& inner_region::make(region& parent, node_name name, site made_at, node_shape shape) {
    auto* made = new inner_region(parent, name, made_at, shape);
    if (made->attach(child_kind::working, admission::member) == attached::refused) {
        panic("region", name.text(), made_at,
              "it was entered in a job that has ended already; enter it while the job's body runs");
    }
    return *made;
}

void inner_region::leave_for_good() noexcept {
    if (!end_alone(1)) {
        close_and_leave();
        release();
    }
}

void shield_region::enter(region& outer, timer_service* timers, site made_at, duration budget) {
    inner_region& inside = inner_region::make(outer, "shield", made_at, node_shape{.shield = true});
    outer_ = &outer;
    region_ = &inside;
    if (budget == duration::max()) {
        return;
    }
    callback_.emplace(token(outer), level::cancel, outer_cancelled(*this));
    if (budget <= duration::zero()) {
        note(spent_bit);
        return;
    }
    const time_point at = deadline_after(timers->now(), budget);
    deadline_.emplace(inside, at, deadline_kind::advice);
    set_deadline(at);
    service_ = timers;
    if (!service_->arm(*this)) {
        service_ = nullptr;
        note(spent_bit);
    }
}

void shield_region::leave() noexcept {
    callback_.reset();
    if (service_ != nullptr) {
        static_cast<void>(service_->disarm(*this));
    }
    deadline_.reset();
    std::exchange(region_, nullptr)->leave_for_good();
}

void shield_region::spent(timer& self) noexcept { static_cast<shield_region&>(self).note(spent_bit); }

void shield_region::note(std::uint32_t fact) noexcept {
    const std::uint32_t before = facts_.fetch_or(fact, mo::acq_rel);  // B1
    if ((before | fact) == (cancelled_bit | spent_bit) && before != (before | fact)) {
        region_->cancel_in_turn(outer_->why());
    }
}

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
