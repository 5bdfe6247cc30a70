// Orders J1 to J6: task/detail/job/job_core.hpp.

#include <roost/task/detail/job/job_core.hpp>

#include <roost/base/failure_sink.hpp>
#include <roost/exec/detail/flight_recorder.hpp>
#include <roost/exec/detail/probes.hpp>
#include <roost/task/detail/frame/await.hpp>
#include <roost/task/detail/job/job_extras.hpp>
#include <roost/task/detail/job/scope_core.hpp>
#include <roost/tree/detail/node_access.hpp>
#include <roost/tree/visit.hpp>

#include <new>

namespace roost::inline ROOST_ABI::detail {

using access = node_access;

namespace {
constexpr std::uint16_t deepest_join = 64;  // bodies that wait for each other on one stack
}  // namespace

void job_core::drop_extras() noexcept { job_extras::drop(*this); }

job_state job_core::state() const noexcept {
    const job_state phase = phase_.load(mo::acquire);  // J1
    if (roost::is_final(phase)) {
        return phase;
    }
    if (cancel_requested()) {
        return job_state::cancelling;
    }
    return is_closing() ? job_state::completing : phase;
}

void job_core::start(promise_base& frame, start_mode mode) noexcept {
    if (is_watched() || mode != start_mode::scheduled || is_cancelled()) [[unlikely]] {
        start_unusual(frame, mode);
        return;
    }
    outcome_link().keep_first(frame);
    set_run(run_job);
    post_or_fall_back(executor(), *this, name_text());
}

void job_core::end_measuring(runner& here) noexcept {
    const ending how = outcome_link().state();
    job_meter::ended(here.measured, has_literal_name() ? name_text() : nullptr, name(),
                     how == ending::threw       ? job_end::failed
                     : how == ending::cancelled ? job_end::cancelled
                                                : job_end::completed);
}

// The constructor has begun the sequence: every other event of the job is reported after this.
void job_core::notify_created(job_state state) noexcept {
    notify(job_event_kind::created, state, 1);
    if ((watched_ & watching::reported) != 0) {
        finish_notifying();
    }
    if (is_cancelled()) {  // no canceller reports it for a job that is born cancelled
        notify_cancel();
    }
}

void job_core::notify_state(job_state state) noexcept {
    if (is_cancelled()) {  // its canceller may be about to report that
        notify_cancel();
    } else if (is_reported() && events_.begin()) {
        notify(job_event_kind::state_changed, state, 1);
        finish_notifying();
    }
}

void job_core::finish_notifying() noexcept {
    while (events_.done()) {
        notify(job_event_kind::cancel_requested, job_state::cancelling, 1);
    }
}

void job_core::notify_cancel() noexcept {
    if (events_.begin_cancel()) {
        notify(job_event_kind::cancel_requested, job_state::cancelling, 1);
        finish_notifying();
    }
}

// The unit keeps the job from ending before this is reported. For a job that has ended no request is reported.
void job_core::notify_cancel_from_outside() noexcept {
    if (try_enter_as_member()) {
        notify_cancel();
        leave();
    }
}

void job_core::start_unusual(promise_base& frame, start_mode mode) noexcept {
    if (reports_its_birth()) {
        notify_created(job_state::fresh);
    }
    if (mode != start_mode::always && is_cancelled()) {
        drop_unstarted(frame);
        outcome_link().settle_cancelled(why());
        parent_scope().note_cancelled_child();
        end_body();
        return;
    }
    if (mode == start_mode::immediate && executor()->is_here()) {
        phase_.store(job_state::active, mo::relaxed);  // J3
        if (is_watched()) [[unlikely]] {
            notify_state(job_state::active);
        }
        ROOST_PROBE2(job_start, this, name_text());
        job_core::run(frame);
        return;
    }
    outcome_link().keep_first(frame);
    set_run(mode == start_mode::always ? run_always : run_job);
    post_or_fall_back(executor(), *this, name_text());
}

// As start(), without a queue.
void job_core::start_here(promise_base& frame) noexcept {
    if (reports_its_birth()) [[unlikely]] {
        notify_created(job_state::fresh);
    }
    if (is_cancelled()) [[unlikely]] {
        runner::of_this_thread().why = why();
        job_core::run(next_step::unwind(frame));
        return;
    }
    phase_.store(job_state::active, mo::relaxed);  // J3
    if (is_watched()) [[unlikely]] {
        notify_state(job_state::active);
    }
    ROOST_PROBE2(job_start, this, name_text());
    job_core::run(frame);
}

void job_core::notify_begun() noexcept {
    notify_created(job_state::fresh);
    notify_state(job_state::active);
}

// The first step of a job, unless it has been cancelled since it was posted.
void job_core::run_job(work& self) noexcept {
    job_core& job = static_cast<job_core&>(self);
    __builtin_prefetch(&job.outcome_link().first());  // among many children the frame has left the cache
    if (job.is_cancelled()) [[unlikely]] {
        run_cancelled(job);
        return;
    }
    run_always(self);
}

void job_core::run_cancelled(job_core& job) noexcept {
    runner::of_this_thread().why = job.why();
    job.run(next_step::unwind(job.outcome_link().first()));
}

void job_core::run_always(work& self) noexcept {
    job_core& job = static_cast<job_core&>(self);
    if ((job.watched_ & watching::timed) != 0) [[unlikely]] {
        job_meter::begins(&job);
    }
    job.phase_.store(job_state::active, mo::relaxed);  // J3
    if (job.is_watched()) [[unlikely]] {
        job.notify_state(job_state::active);
    }
    ROOST_PROBE2(job_start, &job, job.name_text());
    job.run(job.outcome_link().first());
}

next_step job_core::body_done(ending how, reason& why) noexcept {
    if (how == ending::cancelled) [[unlikely]] {
        outcome_link().settle_cancelled(is_cancelled() ? this->why() : std::move(why));
        parent_scope().note_cancelled_child();
    }
    end_body();
    return next_step::nothing();
}

bool job_core::ends_unnoticed() const noexcept {
    return outcome_link().state() != ending::threw && !has_extras_ && !is_watched() &&
           parent_scope().policy().only_failures();
}

// Code that is resumed in place by what follows has no current job: this one may be gone by then.
void job_core::end_body() noexcept {
    ROOST_PROBE2(job_end, this, static_cast<int>(outcome_link().state()));
    runner& here = runner::of_this_thread();
    if (here.current == this) [[likely]] {
        here.current = nullptr;
    }
    if ((watched_ & watching::measured) != 0) [[unlikely]] {
        const bool is_usual = outcome_link().state() == ending::returned && has_literal_name();
        if (!is_usual || !job_meter::completed_again(here.measured, name_text())) {
            end_measuring(here);
        }
    }
    if (ends_unnoticed() && (end_alone(0) || end_for_joiner())) [[likely]] {
        return;
    }
    if (is_watched() && !is_reported() && end_recorded()) {
        return;
    }
    end_noticed();
}

// For a job that only the flight recorder watches: it ends as one that nothing watches. Returns false if it cannot.
bool job_core::end_recorded() noexcept {
    const bool is_quiet = outcome_link().state() != ending::threw && !has_extras_ && parent_scope().policy().only_failures();
    if (is_quiet && is_alone(0) && !is_identified()) {
        record(job_event_kind::finished,
               outcome_link().state() == ending::cancelled ? job_state::cancelled : job_state::completed);
        return end_alone(0);
    }
    return is_quiet && end_for_joiner();  // end_joined() records it
}

// For a job with handles, observers or failures. It closes before it becomes final, so that a final job gives out no lease.
void job_core::end_noticed() noexcept {
    if (has_extras_) {
        settle_carried();
    }
    if (is_watched()) [[unlikely]] {
        notify_state(job_state::completing);
    }
    close_and_leave();
}

// Its waiter is further down on this stack and holds the only reference.
bool job_core::end_for_joiner() noexcept {
    if (!is_alone(1) || outcome_link().state() != ending::returned) {
        return false;
    }
    runner& here = runner::of_this_thread();
    if (here.joined != this) {
        return false;
    }
    here.joined_ended = true;
    return true;
}

void job_core::end_joined() noexcept {
    if ((watching::now() & watching::recorded) != 0 && is_alone(1) && !is_identified()) [[unlikely]] {
        record(job_event_kind::finished, job_state::completed);
    }
    if (!end_alone(1)) {
        end_noticed();
        release();
    }
}

bool job_core::run_for_joiner() noexcept {
    runner& here = runner::of_this_thread();
    if (here.depth == deepest_join || phase_.load(mo::relaxed) != job_state::fresh || !executor()->take_next(*this)) {  // J6
        return false;
    }
    job_core* const outer = std::exchange(here.joined, this);
    ++here.depth;
    here.joining = this;
    work::run();
    --here.depth;
    here.joined = outer;
    return std::exchange(here.joined_ended, false);
}

void job_core::level_raised(node& self, level now) noexcept {
    job_core& job = static_cast<job_core&>(static_cast<region&>(self));
    if (now < level::cancel) {
        return;
    }
    ROOST_PROBE2(job_cancel, &job, static_cast<int>(now));
    if (job.is_watched()) [[unlikely]] {
        job.notify_cancel_from_outside();
    }
    job.interrupt();  // it may have ended by now; its memory stays during the call
}

// A job that began before counting is not counted at its end either.
void job_core::notify(job_event_kind what, job_state state, std::uint32_t times) noexcept {
    watching& all = watching::all();
    if ((watched_ & watching::counted) != 0) {
        switch (what) {
            case job_event_kind::created: all.add(job_counts::which::created); break;
            case job_event_kind::cancel_requested: all.add(job_counts::which::cancels_requested); break;
            case job_event_kind::wait_registered: all.add(job_counts::which::waits_registered); break;
            case job_event_kind::wait_woken: all.add(job_counts::which::waits_woken, times); break;
            case job_event_kind::finished:
                all.add(state == job_state::failed      ? job_counts::which::failed
                        : state == job_state::cancelled ? job_counts::which::cancelled
                                                        : job_counts::which::completed);
                break;
            default: break;
        }
    }
    if ((watching::now() & watching::recorded) != 0) {
        record(what, state);
    }
    if ((watching::now() & watching::notified) == 0) {
        return;
    }
    const reason reason_why = state == job_state::cancelled    ? outcome_link().why()
                              : state == job_state::cancelling ? why()
                                                               : reason();
    const auto notify_of = [&](job_event_kind kind) {
        all.notify(job_event(kind, this, name(), made_at(), state, parent(), parent()->name(), reason_why));
    };
    for (std::uint32_t i = 0; i < times; ++i) {
        notify_of(what);
    }
    if (what == job_event_kind::created) {
        notify_of(job_event_kind::child_attached);
    } else if (what == job_event_kind::cancel_requested) {
        notify_of(job_event_kind::state_changed);
    }
}

void job_core::record(job_event_kind what, job_state state) const noexcept {
    switch (what) {
        case job_event_kind::created:
            flight_recorder::write_created(this, parent(), flight_recorder::name_of(*this), flight_record::place(made_at()),
                                           flight_recorder::name_of(*parent()));
            break;
        case job_event_kind::cancel_requested: flight_recorder::write(event_kind::job_cancelled, this, 0, 0); break;
        case job_event_kind::finished: flight_recorder::write_ended(this, static_cast<std::uint64_t>(state)); break;
        default: break;
    }
}

void job_core::describe_job(const node& self, node_description& d) noexcept {
    const job_core& job = static_cast<const job_core&>(static_cast<const region&>(self));
    region::describe(self, d);
    d.state = to_string(job.state());
    const time_point at = roost::now();
    if (const auto age = recent_time::age(job.born_, at)) {
        d.started = at - *age;
    }
}

// Called when the last unit is gone: the one and only end of a job.
bool job_core::drained(node& self) noexcept {
    job_core& job = static_cast<job_core&>(static_cast<region&>(self));
    if (job.is_watched() && job.is_cancelled()) [[unlikely]] {
        job.notify_cancel();  // its canceller comes too late to report it
    }
    job.parent_scope().policy().child_ended(job.parent_scope(), job);
    job_state last = job_state::completed;
    if (job.outcome_link().state() == ending::threw) {
        last = job_state::failed;
    } else if (job.outcome_link().state() == ending::cancelled) {
        last = job_state::cancelled;
    }
    job.phase_.store(last, mo::seq_cst);  // J2
    job.happened(job_event_kind::state_changed, last);
    job.happened(job_event_kind::finished, last);
    if (job.has_members()) {
        job.wake_joiners(last);
    }
    return true;
}

// --- what jobs hold ------------------------------------------------------------------------------------------------

void noted_taker::note(const promise_base& frame) noexcept {
    static constexpr holder_functions functions{
        .retain = [](void* job) noexcept { static_cast<job_core*>(job)->retain(); },
        .release = [](void* job) noexcept { static_cast<job_core*>(job)->release(); },
        .name = [](const void* job) noexcept { return static_cast<const job_core*>(job)->name(); },
        .made_at = [](const void* job) noexcept { return static_cast<const job_core*>(job)->made_at(); }};
    holdings::taking() = {&frame.region().owner(), &functions, await_line(frame)};
}

void noted_taker::forget() noexcept { holdings::taking() = {}; }

// --- joining ---------------------------------------------------------------------------------------------------------

void job_core::wake_joiners(job_state last) noexcept {
    wake_chain woken;
    std::uint32_t count = 0;
    access::lock_of(*this).lock();
    member_list& members = access::members_of(*this);
    for (member* m = members.first(); m != nullptr;) {
        member* after = member_list::next_of(*m);
        if (m->kind() == member_kind::joiner) {
            members.erase(*m);
            waiter& w = *std::exchange(static_cast<joiner&>(*m).queued_, nullptr);
            if (w.is_alternative() && !w.of_choice().try_win(&w)) {
                wait_list::mark(w, claim::cancelled);  // decided elsewhere: as if it had left
            } else {
                woken.add(w);
                ++count;
            }
        }
        m = after;
    }
    access::lock_of(*this).unlock();
    if (count > 0) {
        happened(job_event_kind::wait_woken, last, count);
    }
    woken.deliver("a joiner");
}

bool joiner::enqueue(waiter& w) noexcept {
    job_core& job = *target_;
    const bool is_reported = job.is_watched() && !job.is_final();
    if (is_reported) {  // before it can be woken
        job.happened(job_event_kind::wait_registered, job.state());
    }
    access::lock_of(job).lock();
    access::members_of(job).push_back(*this);
    const bool queue_up = !roost::is_final(job.phase_.load(mo::seq_cst));  // J5
    if (queue_up) {
        queued_ = &w;
        wait_list::mark(w, claim::waiting);
    } else {
        access::members_of(job).erase(*this);
    }
    access::lock_of(job).unlock();
    if (is_reported && !queue_up) {  // the job ended meanwhile; a queued waiter may be gone by now, and the job with it
        job.happened(job_event_kind::wait_woken, job.state());
    }
    return queue_up;
}

bool joiner::cancel(waiter& w, claim as) noexcept {
    access::lock_of(*target_).lock();
    const bool mine = queued_ == &w;
    if (mine) {
        access::members_of(*target_).erase(*this);
        queued_ = nullptr;
        wait_list::mark(w, as);
    }
    access::lock_of(*target_).unlock();
    return mine;
}

}  // namespace roost::inline ROOST_ABI::detail
