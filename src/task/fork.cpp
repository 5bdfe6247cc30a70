#include <roost/task/detail/fork.hpp>

#include <roost/task/job.hpp>

namespace roost::inline ROOST_ABI::detail {

namespace {
// Whose ticket this thread is posting.
const fork*& passed_on_here() noexcept {
    struct tag;
    return thread_value<tag, const fork*>::get();
}
}  // namespace

fork::~fork() {
    ROOST_ASSERT(rest_ == nullptr, "a group was destroyed with children that have not begun");
    if (scope_ != nullptr) {
        scope_->release();
    }
}

// In the order in which they begin.
void fork::add(fork_slot& slot) noexcept {
    slot.group_ = this;
    slot.next_ = nullptr;
    fork_slot** end = &first_;
    if (last_ != nullptr) {
        end = &last_->next_;
    } else {
        rest_ = &slot;
    }
    *end = last_ = &slot;
}

// Takes the first of the rest.
promise_base& fork::take_first() noexcept {
    fork_slot& slot = *rest_;
    rest_ = slot.next_;
    return slot.link().first();
}

void fork::drop_rest() noexcept {
    while (rest_ != nullptr) {
        take_first().handle().destroy();
    }
}

promise_base* fork::start(node_name name, site where) {
    region& at = me_->where();
    if (at.is_cancelled()) [[unlikely]] {
        unwind_frame(*me_);
        return nullptr;
    }
    if (first_ == nullptr) {
        return me_;
    }
    scope_ = &fork_scope::open(at, name, rules_->child, where, rules_->policy);
    scope_->serve(*this);
    runner& here = runner::of_this_thread();
    entered_ = here.entered;
    return &begin_here(here);
}

// With the ticket. It is posted before the child runs, so that nobody has to wait for the child.
promise_base& fork::begin_here(runner& here) noexcept {
    settled_link& link = rest_->link();
    promise_base& frame = take_first();
    fork_job& job = scope_->first_job();
    frame.attach(link, job);
    posted_ = rest_ != nullptr;
    if (posted_) {
        post_or_fall_back(scope_->where(), static_cast<fork_ticket&>(*this), "the children of a group");
    }
    job.begin_here();
    here.current = &job;
    return frame;
}

next_step fork::child_done(fork_slot& slot, ending how, reason& why) noexcept {
    runner& here = runner::of_this_thread();
    fork_job& ran = static_cast<fork_job&>(static_cast<job_core&>(*here.current));
    const bool decided = rules_->ended != nullptr && rules_->ended(*this, slot, how, &ran);
    const bool is_here = here.entered == entered_;  // then it has not been suspended, and it is the first job
    if (is_here && how == ending::returned && ran.is_as_new() &&
        (!posted_ || scope_->where()->take_next(static_cast<fork_ticket&>(*this)))) [[likely]] {
        if (decided) {
            drop_rest();
        }
        return rest_ != nullptr ? next_step::resume(begin_here(here)) : end_here(here);
    }
    end_job(ran, slot, how, why, decided);
    return next_step::nothing();
}

// All that has begun here has returned, and nothing is left to begin.
next_step fork::end_here(runner& here) noexcept {
    if (scope_->is_as_new()) [[likely]] {
        std::exchange(scope_, nullptr)->put_away();
        here.current = &me_->where().owner();
        return rules_->finish(*this);
    }
    fork_scope& scope = *scope_;
    fork_job& job = scope.first_job();
    scope.close_and_leave();
    reason none;
    job.end(ending::returned, first_->link(), none);
    return next_step::nothing();
}

// The group may be gone when this returns.
void fork::end_job(fork_job& ran, fork_slot& slot, ending how, reason& why, bool decided) noexcept {
    fork_scope& scope = *scope_;
    if (decided) {
        scope.node::cancel(reason::plain_kind(reason_kind::lost_race));
    }
    if (rules_->needs_all && how == ending::cancelled) {
        scope.node::cancel(why);
    }
    if (ran.is_first() && !posted_) {
        scope.close_and_leave();
    }
    ran.end(how == ending::threw && !rules_->needs_all ? ending::returned : how, slot.link(), why);
}

// --- elsewhere -------------------------------------------------------------------------------------------------------

void fork::run_ticket(work& self) noexcept {
    fork& mine = static_cast<fork&>(static_cast<fork_ticket&>(self));
    const fork*& passing = passed_on_here();
    if (passing == &mine) {
        passing = nullptr;  // this executor runs work inside post(): whoever passes it on has it again
        return;
    }
    mine.begin_elsewhere();
}

// False: it has come back at once.
bool fork::pass_on(executor_ref to) noexcept {
    const fork* outer = std::exchange(passed_on_here(), this);
    post_or_fall_back(to, static_cast<fork_ticket&>(*this), "the children of a group");
    return std::exchange(passed_on_here(), outer) == this;
}

// With the ticket. Begins one child and passes the ticket on; the child runs last, when nothing of the group is needed here.
void fork::begin_elsewhere() noexcept {
    fork_scope& scope = *scope_;
    while (rest_ != nullptr && !scope.should_stop_now()) {
        fork_slot& slot = *rest_;
        promise_base& frame = take_first();
        fork_job* job = nullptr;
        try {
            job = &fork_job::make(scope, rules_->child);
        } catch (...) {
            frame.handle().destroy();
            could_not_begin(slot, std::current_exception());
            continue;
        }
        frame.attach(slot.link(), *job);
        const bool is_last = rest_ == nullptr;
        if (is_last) {
            scope.close_and_leave();
        }
        const bool is_mine = !is_last && !pass_on(scope.where());
        job->start_here(frame);
        if (!is_mine) {
            return;
        }
    }
    drop_rest();
    scope.close_and_leave();
}

void fork::could_not_begin(fork_slot& slot, std::exception_ptr error) noexcept {
    slot.link().settle_threw(error);
    if (rules_->needs_all) {
        scope_->fail(error);
    }
    if (rules_->ended != nullptr && rules_->ended(*this, slot, ending::threw, nullptr)) {
        scope_->node::cancel(reason::plain_kind(reason_kind::lost_race));
    }
}

// --- the end ---------------------------------------------------------------------------------------------------------

// The scope has drained: in the awaiting body.
next_step fork::go_on(continuation& self) noexcept {
    fork& mine = static_cast<fork&>(self);
    if (std::exception_ptr first = mine.scope_->first_failure()) {
        for (std::exception_ptr& other : mine.scope_->take_other_failures()) {
            job_of(*mine.me_).add_suppressed(std::move(other));
        }
        mine.failure_ = std::move(first);
        return next_step::resume(*mine.me_);
    }
    return mine.rules_->finish(mine);
}

next_step fork::end_cancelled() noexcept {
    reason why = me_->where().is_cancelled() ? me_->where().why() : reason();
    for (fork_slot* s = first_; s != nullptr && !why; s = s->next_) {
        if (s->link().state() == ending::cancelled) {
            why = s->link().why();
        }
    }
    if (!why && scope_ != nullptr) {
        why = scope_->why();
    }
    runner::of_this_thread().why = why ? std::move(why) : reason::plain_kind(reason_kind::requested);
    return next_step::unwind(*me_);
}

}  // namespace roost::inline ROOST_ABI::detail
