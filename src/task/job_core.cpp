#include <roost/task/detail/job_core.hpp>

#include <roost/exec/recent_time.hpp>
#include <roost/task/detail/scope_core.hpp>
#include <roost/task/failure_sink.hpp>
#include <roost/tree/visit.hpp>

#include <new>

namespace roost::inline ROOST_ABI::detail {

job_core::job_core(const node_functions& functions, scope_core& parent, node_name name, site made_at, settled_link& link)
    : region(functions, parent, name, made_at, {}, *this),
      body(parent.where()),
      link_(&link),
      watched_(watching::now()),
      born_(recent_time::stamp()) {}

job_core::~job_core() {
    ROOST_ASSERT(joiners_.is_quiet(), "a job's memory went while somebody was joining it");
    delete extra_;
}

scope_core& job_core::parent_scope() const noexcept { return static_cast<scope_core&>(static_cast<region&>(*parent())); }

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
    happened(job_event_kind::created, job_state::fresh);
    if ((watched_ | watching::now()) != 0 && should_stop_now() && interrupt()) [[unlikely]] {
        happened(job_event_kind::cancel_requested, job_state::cancelling);  // born cancelled: nobody else says so
    }
    if (mode != start_mode::always && should_stop_now()) {
        link_->child_ = nullptr;
        frame.handle().destroy();
        link_->settle_cancelled(why());
        end_body();
        return;
    }
    if (mode == start_mode::immediate && where()->is_here()) {
        phase_.store(job_state::active, mo::relaxed);  // J3
        happened(job_event_kind::state_changed, job_state::active);
        body::run(frame);
        return;
    }
    set_run(mode == start_mode::always ? run_always : run_job);
    post_or_fall_back(where(), *this, name());
}

// The first thing that runs of a job, unless it has been cancelled since it was posted.
void job_core::run_job(work& self) noexcept {
    job_core& job = static_cast<job_core&>(static_cast<body&>(self));
    promise_base& frame = *job.link_->child_;
    if (job.is_cancelled()) {
        runner::of_this_thread().why = job.why();
        job.body::run(next_step::unwind(frame));
        return;
    }
    run_always(self);
}

void job_core::run_always(work& self) noexcept {
    job_core& job = static_cast<job_core&>(static_cast<body&>(self));
    job.phase_.store(job_state::active, mo::relaxed);  // J3
    job.happened(job_event_kind::state_changed, job_state::active);
    job.body::run(*job.link_->child_);
}

next_step job_core::root_done(await_link& link, ending how, reason& why) noexcept {
    job_core& job = *static_cast<job_core*>(link.up_);
    if (how == ending::cancelled) {
        job.link_->settle_cancelled(std::move(why));
    }
    job.end_body();
    return next_step::nothing();
}

void job_core::end_body() noexcept {
    happened(job_event_kind::state_changed, job_state::completing);
    close_and_leave();
}

void job_core::level_raised(node& self, level now) noexcept {
    job_core& job = static_cast<job_core&>(static_cast<region&>(self));
    if (now >= level::cancel && job.interrupt()) {  // it may have ended by now; its memory stays during the call
        job.happened(job_event_kind::cancel_requested, job_state::cancelling);
    }
}

// Jobs that began before anybody counted are not counted at their end either.
void job_core::tell(job_event_kind what, job_state state, std::uint32_t times) noexcept {
    watching& all = watching::all();
    if ((watched_ & watching::counted) != 0) {
        switch (what) {
            case job_event_kind::created: all.add(job_counts::created_); break;
            case job_event_kind::cancel_requested: all.add(job_counts::cancels_requested_); break;
            case job_event_kind::wait_registered: all.add(job_counts::waits_registered_); break;
            case job_event_kind::wait_woken: all.add(job_counts::waits_woken_, times); break;
            case job_event_kind::finished:
                all.add(state == job_state::failed      ? job_counts::failed_
                        : state == job_state::cancelled ? job_counts::cancelled_
                                                        : job_counts::completed_);
                break;
            default: break;
        }
    }
    if ((watching::now() & watching::told) == 0) {
        return;
    }
    const reason reason_why = state == job_state::cancelled    ? link_->why()
                              : state == job_state::cancelling ? why()
                                                               : reason();
    const auto say = [&](job_event_kind kind) {
        all.tell(job_event(kind, this, name(), made_at(), state, parent(), parent()->name(), reason_why));
    };
    for (std::uint32_t i = 0; i < times; ++i) {
        say(what);
    }
    if (what == job_event_kind::created) {
        say(job_event_kind::child_attached);
    } else if (what == job_event_kind::cancel_requested) {
        say(job_event_kind::state_changed);
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

// The last unit is gone: the one and only end of a job.
bool job_core::drained(node& self) noexcept {
    job_core& job = static_cast<job_core&>(static_cast<region&>(self));
    job.parent_scope().policy().child_ended(job.parent_scope(), job);
    job_state last = job_state::completed;
    if (job.link_->state_ == ending::threw) {
        last = job_state::failed;
    } else if (job.link_->state_ == ending::cancelled) {
        last = job_state::cancelled;
    }
    job.phase_.store(last, mo::seq_cst);  // J2
    job.happened(job_event_kind::state_changed, last);
    job.happened(job_event_kind::finished, last);
    if (!job.joiners_.is_idle()) {
        job.joiners_.lock();
        const std::uint32_t waiting = job.joiners_.size_approx();
        wake_chain woken = job.joiners_.take_all();
        job.joiners_.unlock();
        if (waiting > 0) {
            job.happened(job_event_kind::wait_woken, last, waiting);
        }
        woken.deliver("a joiner");
    }
    return true;
}

bool job_core::enqueue(waiter& w) noexcept {
    joiners_.lock();
    const bool queue_up = !roost::is_final(phase_.load(mo::seq_cst));  // J5
    const bool is_watched = queue_up && (watched_ | watching::now()) != 0;
    if (queue_up) {
        joiners_.push_back(w);
    }
    if (is_watched) {
        retain();  // once unlocked, whoever waits may be gone, and the job with it
    }
    joiners_.unlock();
    if (is_watched) {
        happened(job_event_kind::wait_registered, state());
        release();
    }
    return queue_up;
}

bool job_core::cancel(waiter& w, claim as) noexcept {
    joiners_.lock();
    const bool mine = joiners_.take_if_queued(w, as);
    joiners_.unlock();
    return mine;
}

job_core::extras* job_core::need_extra() noexcept {
    if (extra_ == nullptr) {
        extra_ = new (std::nothrow) extras;
    }
    return extra_;
}

void job_core::add_suppressed(std::exception_ptr error) noexcept {
    try {
        if (extras* more = need_extra()) {
            more->suppressed.push_back(error);
            return;
        }
    } catch (const std::bad_alloc&) {}
    report_failure("a further failure of job", name(), made_at(), std::move(error));
}

std::vector<std::exception_ptr> job_core::take_suppressed(std::size_t n) noexcept {
    std::vector<std::exception_ptr> taken;
    if (extra_ != nullptr && extra_->suppressed.size() > n) {
        if (n == 0) {
            taken.swap(extra_->suppressed);
        } else {
            taken.assign(extra_->suppressed.begin() + static_cast<std::ptrdiff_t>(n), extra_->suppressed.end());
            extra_->suppressed.resize(n);
        }
    }
    return taken;
}

const std::vector<std::exception_ptr>& job_core::suppressed() const noexcept {
    static const std::vector<std::exception_ptr> none;
    return extra_ == nullptr ? none : extra_->suppressed;
}

const std::vector<std::string>& job_core::notes() const noexcept {
    static const std::vector<std::string> none;
    return extra_ == nullptr ? none : extra_->notes;
}

void job_core::add_note(std::string text) noexcept {
    try {
        if (extras* more = need_extra()) {
            more->notes.push_back(std::move(text));
        }
    } catch (const std::bad_alloc&) {  // a note is help, not a promise
    }
}

}  // namespace roost::inline ROOST_ABI::detail
