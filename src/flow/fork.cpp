// Order F3: flow/detail/group/fork_job.hpp.

#include <roost/flow/detail/group/fork.hpp>

#include <roost/base/failure_sink.hpp>
#include <roost/task/job.hpp>

// Everything that runs once per child, in one file, so that the compiler can inline it. Code that runs once is in
// fork_job.cpp and fork_scope.cpp.

namespace roost::inline ROOST_ABI::detail {

namespace {

// Returns true if it is cancelled and the reason comes from further up.
bool has_reason_from_above(const node& n) noexcept {
    constexpr level_word own = own_bit(level::cancel) | own_bit(level::abort);
    return n.is_cancelled() && (node_access::level_of(const_cast<node&>(n)).load(mo::relaxed) & own) == 0;  // F3
}

// The group whose queue entry this thread is posting.
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

// Takes the first of the rest.
promise_base& fork::take_first() noexcept {
    fork_slot& slot = *rest_;
    rest_ = slot.next_;
    return slot.link().first();
}

void fork::drop_rest() noexcept {
    while (rest_ != nullptr) {
        drop_unstarted(take_first());
    }
}

promise_base* fork::start(node_name name, site where) {
    region& at = me_->region();
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
    return begin_here(here);
}

// Requires the queue entry. It is posted before the child runs, so that other threads need not wait for the child. Returns
// null if the executor runs work inside post(): the child has run below this, and the others after it.
promise_base* fork::begin_here(runner& here) noexcept {
    settled_link& link = rest_->link();
    promise_base& frame = take_first();
    fork_job& job = scope_->first_job();
    frame.attach(link, job);
    posted_ = rest_ != nullptr;
    if (posted_ && !pass_on(scope_->executor())) [[unlikely]] {
        here.current = here.current == &job ? nullptr : here.current;  // the loop below has nothing left to do
        job.start_here(frame);
        begin_elsewhere();
        return nullptr;
    }
    job.begin_here();
    here.current = &job;
    return &frame;
}

next_step fork::child_done(fork_slot& slot, ending how, reason& why) noexcept {
    runner& here = runner::of_this_thread();
    fork_job& ran = static_cast<fork_job&>(*here.current);
    const bool decided = rules_->ended != nullptr && rules_->ended(*this, slot, how, &ran);
    const bool is_here = here.entered == entered_;  // then it has not been suspended, and it is the first job
    if (is_here && how == ending::returned && ran.is_unobserved() &&
        (!posted_ || scope_->executor()->take_next(static_cast<fork_entry&>(*this)))) [[likely]] {
        if (decided) {
            drop_rest();
        }
        if (rest_ == nullptr) {
            return end_here(here);
        }
        promise_base* frame = begin_here(here);
        return frame != nullptr ? next_step::resume(*frame) : next_step::nothing();
    }
    end_job(ran, slot, how, why, decided);
    return next_step::nothing();
}

// All children that began here have returned, and nothing is left to begin.
next_step fork::end_here(runner& here) noexcept {
    if (scope_->is_unobserved()) [[likely]] {
        here.current = &me_->region().owner();
        const next_step then = rules_->needs_all ? next_step::resume(*me_) : rules_->finish(*this);
        std::exchange(scope_, nullptr)->put_away();  // now: finish() may report its site
        return then;
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
    slot.is_from_above_ = how == ending::cancelled && has_reason_from_above(scope) && has_reason_from_above(ran);
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

void fork::run_entry(work& self) noexcept {
    fork& mine = static_cast<fork&>(static_cast<fork_entry&>(self));
    const fork*& passing = passed_on_here();
    if (passing == &mine) {
        passing = nullptr;  // this executor runs work inside post(): the posting thread has the entry again
        return;
    }
    mine.begin_elsewhere();
}

// Returns false if the queue entry has come back at once.
bool fork::pass_on(executor_ref to) noexcept {
    const fork*& passing = passed_on_here();
    const fork* outer = std::exchange(passing, this);
    post_or_fall_back(to, static_cast<fork_entry&>(*this), "the children of a group");
    return std::exchange(passing, outer) == this;
}

// Requires the queue entry. Begins one child and passes the entry on. The child runs last, when nothing of the group is
// needed here.
void fork::begin_elsewhere() noexcept {
    fork_scope& scope = *scope_;
    while (rest_ != nullptr && !scope.is_cancelled()) {
        fork_slot& slot = *rest_;
        promise_base& frame = take_first();
        fork_job* job = nullptr;
        try {
            job = &fork_job::make(scope, rules_->child);
        } catch (...) {
            drop_unstarted(frame);
            could_not_begin(slot, std::current_exception());
            continue;
        }
        frame.attach(slot.link(), *job);
        const bool is_last = rest_ == nullptr;
        if (is_last) {
            scope.close_and_leave();
        }
        const bool is_mine = !is_last && !pass_on(scope.executor());
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

// Called in the awaiting body when the scope has drained.
next_step fork::go_on(continuation& self) noexcept {
    fork& mine = static_cast<fork&>(self);
    if (std::exception_ptr first = mine.scope_->first_failure()) {
        job_of(*mine.me_).carry(first, mine.scope_->take_other_failures());
        mine.failure_ = std::move(first);
        if (!mine.rules_->needs_all) {
            mine.keep_slots();
        }
        return next_step::resume(*mine.me_);
    }
    return mine.rules_->finish(mine);
}

// The group fails although its children's failures were to be results: they are kept beside that failure.
void fork::keep_slots() const noexcept {
    for (const fork_slot* s = first_; s != nullptr; s = s->next_) {
        if (s->link().state() == ending::threw && s->link().error() != failure_) {
            job_of(*me_).carry(failure_, s->link().error());
        }
        job_of(*me_).carry(failure_, static_cast<const outcome_slot&>(*s).others);
    }
}

void fork::report_slots(std::string_view what) const noexcept {
    for (const fork_slot* s = first_; s != nullptr; s = s->next_) {
        if (s->link().state() == ending::threw) {
            report_failure(what, rules_->child.text(), scope_->made_at(), s->link().error());
        }
        static_cast<const outcome_slot&>(*s).others.for_each(
            [&](const std::exception_ptr& other) { report_failure(what, rules_->child.text(), scope_->made_at(), other); });
    }
}

// Finding a reason climbs the tree, which may be long, and every node on the way would do so. So a child that has found the
// reason from above passes it on.
reason fork::reason_from_above() const noexcept {
    for (const fork_slot* s = first_; s != nullptr; s = s->next_) {
        if (s->is_from_above_) {
            return s->link().why();
        }
    }
    return me_->region().why();
}

next_step fork::end_cancelled() noexcept {
    reason why = me_->region().is_cancelled_relaxed() ? reason_from_above() : reason();
    for (fork_slot* s = first_; s != nullptr && !why; s = s->next_) {
        if (s->link().state() == ending::cancelled) {
            why = s->link().why();
        }
    }
    if (!why) {
        why = scope_->why();
    }
    runner::of_this_thread().why = why ? std::move(why) : reason::plain_kind(reason_kind::requested);
    return next_step::unwind(*me_);
}

}  // namespace roost::inline ROOST_ABI::detail
