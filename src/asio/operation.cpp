// Orders P1 to P3: asio/detail/operation.hpp.

#include <roost/asio/detail/operation.hpp>

#include <roost/asio/detail/typed_operation.hpp>
#include <roost/asio/io_executor.hpp>
#include <roost/exec/detail/fall_back.hpp>
#include <roost/task/detail/job/job_core.hpp>

#include <utility>

namespace roost::inline ROOST_ABI::detail {

namespace {

// Returns true if functions on this executor never run at the same time.
bool is_serial(const net::any_io_executor& ex) noexcept {
    return io_executor::is_single_threaded(net::query(ex, net::execution::context)) ||
           ex.target<net::strand<net::any_io_executor>>() != nullptr ||
           ex.target<net::strand<net::io_context::executor_type>>() != nullptr;
}

net::any_io_executor serial_of(const net::any_io_executor& offered) {
    return is_serial(offered) ? offered : net::any_io_executor(net::strand<net::any_io_executor>(offered));
}

// Returns true if the job whose body is in this region is cancelled itself, and no shield in between delays that.
bool reaches_from_job(const region& in) noexcept {
    const node& whole = in.owner();
    for (const node* n = &in; n != &whole; n = n->parent()) {
        if (n->is_shield() && !n->is_cancelled()) {
            return false;
        }
    }
    return whole.is_cancelled();
}

}  // namespace

// The emission of the signal, in the queue of the operation's executor.
class operation::emission {
public:
    explicit emission(operation& owner) noexcept : owner_(&owner) {}
    emission(emission&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)) {}
    emission(const emission&) = delete;
    emission& operator=(const emission&) = delete;
    ~emission() {
        post_phase expected = post_phase::posting;
        if (owner_ != nullptr &&
            !owner_->posting_.compare_exchange_strong(expected, post_phase::dropped, mo::seq_cst, mo::seq_cst)) {  // P3
            owner_->emission_lost();
        }
    }
    void operator()() noexcept { std::exchange(owner_, nullptr)->emit(); }

private:
    operation* owner_;
};

// Never claims: the frame cannot leave before the handler, so the cancel is passed on and the wait continues.
bool operation::pass_cancel_on(cancellable& self) noexcept {
    static_cast<operation&>(self).request(wish::cancel);
    return false;
}

operation::operation(promise_base& me, ending_function ending, bool ends_at_stop) noexcept
    : cancellable(me, functions), work(run_woken), ending_(ending), ends_at_stop_(ends_at_stop), local_emission_(*this) {}

void operation::prepare(const net::any_io_executor& offered) {
    executor_ = serial_of(offered);
    has_executor_ = true;
}

net::any_io_executor operation::make_serial_executor(const net::any_io_executor& offered) noexcept {
    executor_lock_.lock();
    try {
        executor_ = serial_of(offered);
    } catch (...) {
        executor_ = offered;  // no memory for a strand, and no caller to throw to
        serial_ = false;
    }
    has_executor_ = true;
    net::any_io_executor mine = executor_;
    executor_lock_.unlock();
    return mine;
}

bool operation::may_begin() noexcept {
    if (frame().region().is_cancelled_relaxed()) [[unlikely]] {
        unwind_frame(frame());
        return false;
    }
    return true;
}

void operation::before_begin() {
    signal_.open();
    if (ends_at_stop_) {
        on_stop_.emplace(token(frame().region()), level::stop, stop_hook(*this, frame().region()));
    }
}

bool operation::after_begin() noexcept {
    promise_base& me = frame();
    region& in = me.region();
    suspended_ = true;
    switch (state_.transition(begin_returned)) {
        case operation_action::go_on:
            suspended_ = false;
            executor_ = net::any_io_executor();
            if (dropped_ && !error_) {
                unwind_frame(me, reason::plain_kind(reason_kind::closed));
                return true;
            }
            return false;
        case operation_action::emit: post_emission(); break;
        default: break;
    }
    // The last touch; run_woken waits for it. The commit never claims, see pass_cancel_on().
    static_cast<void>(in.commit(*this));
    return true;
}

// A cancel arrives here as well as through the region. It must not count as a stop, whichever of the two comes first.
void operation::level_raised(const region& in) noexcept { request(in.is_cancelled() ? wish::cancel : wish::stop); }

void operation::request(wish what) noexcept {
    if (state_.transition([what](operation_state s) { return ask(s, what); }) == operation_action::emit) {
        post_emission();
    }
}

// Under the lock, so that handler_gone() does not release the executor meanwhile. Posting calls no other code of ours.
void operation::post_emission() noexcept {
    executor_lock_.lock();
    const bool known = static_cast<bool>(executor_);
    bool posted = false;
    bool dropped = false;
    if (known && serial_) {
        posting_.store(post_phase::posting, mo::seq_cst);  // P1
        try {
            net::post(executor_, emission(*this));
            posted = true;
        } catch (...) {}
        dropped = posting_.exchange(post_phase::idle, mo::seq_cst) == post_phase::dropped;  // P2
    }
    const bool never_runs = known && (!serial_ || (posted && dropped));
    executor_lock_.unlock();
    if (never_runs) {
        emission_lost();  // a cancel cannot end it early: its executor is not safe to emit on, or is shutting down
    } else if (!posted) {
        // Without memory, retries in a turn of the task's executor; that post does not allocate.
        local_emission_.set_retries(known);
        post_or_fall_back(frame().get_executor(), local_emission_, "the cancellation of an asio operation");
    }
}

void operation::emit() noexcept {
    do {
        const wish before = state_.peek().emitted;
        if (state_.transition(begin_emission) == operation_action::emit) {
            const wish now = state_.peek().emitted;
            if (before < wish::stop && now >= wish::stop && now != wish::cancel) {
                signal_.emit(net::cancellation_type::total);
            }
            if (now == wish::cancel) {
                signal_.emit(net::cancellation_type::terminal);
            }
        }
    } while (leave_emission());
}

bool operation::leave_emission() noexcept {
    const operation_action action = state_.transition(end_emission);
    if (action == operation_action::go_on) {
        wake();
    }
    return action == operation_action::emit;
}

void operation::emission_lost() noexcept {
    if (state_.transition(emission_dropped) == operation_action::go_on) {
        wake();
    }
}

// The executor may belong to a context that is being destroyed. It must not outlive the context in this frame.
void operation::handler_gone() noexcept {
    operation_action action = state_.transition(handler_left_unasked);
    if (action == operation_action::asked) {
        net::any_io_executor gone;
        executor_lock_.lock();
        gone.swap(executor_);
        executor_lock_.unlock();
        gone = net::any_io_executor();
        action = state_.transition(handler_left);
    } else if (action == operation_action::go_on) {
        executor_ = net::any_io_executor();  // only this thread is left
    }
    if (action == operation_action::go_on) {
        wake();
    }
}

// Resumes at once if this thread may run bodies of the task's executor and runs none. If another body's code calls or drops
// the handler, the task is posted. If the handler runs in the driver of a runtime, it is queued behind earlier work.
void operation::wake() noexcept {
    const executor_ref where = frame().get_executor();
    const bool is_here = where->is_here();
    if (is_here && !job_core::is_any_here()) {
        run_woken(*this);
    } else if (!(is_here ? where->post(*this) : where->post_last(*this))) [[unlikely]] {
        fall_back(where, *this, "a task after an asio operation");
    }
}

// A deadline, or a scope inside the job, ends the wait and not the result: an existing result is delivered, and the body
// unwinds at its next await. Only a cancel of the job itself destroys the result.
bool operation::loses_its_result(const region& in) const noexcept {
    if (state_.peek().wanted != wish::cancel) {
        return false;
    }
    switch (ending_(*this)) {
        case ended_as::failure: return false;
        case ended_as::aborted: return true;
        case ended_as::result: break;
    }
    return reaches_from_job(in);
}

void operation::run_woken(work& self) noexcept {
    operation& mine = static_cast<operation&>(self);
    promise_base& me = mine.frame();
    region& in = me.region();
    if (mine.suspended_) {
        in.disarm(mine);
    }
    const bool cancelled = mine.loses_its_result(in);
    if ((mine.dropped_ || cancelled) && !mine.error_) {
        runner::of_this_thread().why = cancelled ? in.why() : reason::plain_kind(reason_kind::closed);
        in.owner().run(next_step::unwind(me));
        return;
    }
    me.resume_from_wait();
}

bool is_failure(const std::exception_ptr& error) noexcept {
    if (!error) {
        return false;
    }
    try {
        std::rethrow_exception(error);
    } catch (const system_error& e) {
        return e.code() != net::error::operation_aborted;
    } catch (...) {
        return true;
    }
}

}  // namespace roost::inline ROOST_ABI::detail
