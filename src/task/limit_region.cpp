// Orders M1 and M2: task/detail/job/limit_region.hpp.

#include <roost/task/detail/job/limit_region.hpp>

#include <roost/base/error.hpp>
#include <roost/task/detail/frame/timeout_await.hpp>

namespace roost::inline ROOST_ABI::detail {

constinit const node_functions limit_region::functions{.kind = "region",
                                                       .destroy = destroy,
                                                       .level_raised = region::level_raised,
                                                       .describe = region::describe,
                                                       .clock = region::clock,
                                                       .own = own_work::none};

limit_region* limit_region::make(promise_base& from, site made_at, time_point at) {
    auto* made = new limit_region(from.region(), made_at, timers_of(from));
    if (made->attach(child_kind::working, admission::member) == attached::refused) {
        panic("region", "deadline", made_at,
              "it was entered in a job that has ended already; enter it while the job's body runs");
    }
    made->set_steps(1);  // the first step inside looks at the clock
    made->deadline_.emplace(*made, at);
    made->set_deadline(at);
    made->armed_.set(made->service_->arm(*made));
    if (made->armed_.get()) {
        return made;
    }
    made->deadline_->end();
    made->give_back();
    return nullptr;
}

void limit_region::give_back() noexcept {
    if (!end_alone(1)) {
        close_and_leave();
        unlink_early();  // a handle may keep it for long
        release();
    }
}

limit_region::passed limit_region::leave_for_good() noexcept {
    deadline_->end();
    set_timer();  // unless another thread is at that, fired() is out of here when it returns
    const passed cut_or_not = is_cut_short() ? passed::cut_short : passed::yes;
    const passed result = is_cancelled() ? cut_or_not : passed::no;
    give_back();
    return result;
}

void limit_region::set_timer() noexcept {
    if (changes_.fetch_add(1, mo::acq_rel) != 0) {  // M1
        return;
    }
    std::uint32_t seen = 1;
    do {
        follow_deadline();
    } while (!changes_.compare_exchange_strong(seen, 0, mo::release, mo::acquire));  // M2
}

void limit_region::follow_deadline() noexcept {
    if (armed_
            .get()) {  // also for the same time: it may have fired in vain since another thread moved the deadline away and back
        static_cast<void>(service_->disarm(*this));  // true or false: fired() is not running
        armed_.set(false);
    }
    if (deadline_->is_pending()) {
        set_deadline(deadline_->at());
        armed_.set(service_->arm(*this));
        if (!armed_.get() && deadline_->try_pass(no_deadline)) {  // the timers are closed: nothing would end the body
            time_out();
        }
    }
}

// By the time it was armed for: the service may be a little early by its clock. One that was moved further out meanwhile is
// armed again by the thread that moved it.
void limit_region::fired(timer& self) noexcept {
    auto& mine = static_cast<limit_region&>(self);
    if (mine.deadline_->try_pass(self.deadline())) {
        mine.time_out();
    }
}

bool limit_region::move(const deadline_change& to) noexcept {
    if (!try_enter_as_member()) {
        return false;
    }
    const deadline_move result = deadline_->try_move(to, service_->now());
    if (result == deadline_move::moved) {
        set_timer();
    } else if (result != deadline_move::ended) {
        time_out();
    }
    leave();
    return result == deadline_move::moved || result == deadline_move::passed_now;
}

duration limit_region::remaining() noexcept {
    if (own() == no_deadline) {
        return duration::max();
    }
    if (!try_enter_as_member()) {
        return duration::zero();
    }
    const time_point now = service_->now();
    const time_point at = own();
    leave();
    return at <= now ? duration::zero() : at - now;
}

limit_region* limit_region::around(region& inner) noexcept {
    for (node* n = &inner; n != nullptr; n = n->is_shield() ? nullptr : n->parent()) {
        if (&n->functions() == &functions) {
            return &static_cast<limit_region&>(static_cast<region&>(*n));
        }
    }
    return nullptr;
}

void throw_timed_out(site where) { throw timed_out("the deadline set at " + where.to_string() + " has passed"); }

}  // namespace roost::inline ROOST_ABI::detail
