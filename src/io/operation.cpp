// Order O1: io/detail/operation.hpp.

#include <roost/io/detail/operation.hpp>

#include <roost/base/assert.hpp>
#include <roost/sync/detail/wait_operation.hpp>

namespace roost::inline ROOST_ABI::io::detail {

using namespace seam;

operation::operation(operation&& other) noexcept
    : on_(other.on_),
      try_(other.try_),
      what_(other.what_),
      count_(other.count_),
      direction_(other.direction_),
      node_(std::move(other.node_)) {
    ROOST_ASSERT(!other.entered_, "an operation cannot move once it was begun");
}

// A frame that is destroyed while it waits, or before its wake has run.
void operation::abandon() noexcept {
    if (node_.is_started() && node_.state() == claim::waiting && !ready().cancel(node_, claim::cancelled)) {
        roost::detail::destroyed_while_woken(waits_on());
    }
    if (std::exchange(entered_, false)) {
        on_->leave();
    }
}

bool operation::enter() noexcept {
    entered_ = entered_ || (on_ != nullptr && on_->enter());
    return entered_;
}

bool operation::await_ready() noexcept {
    set_awaited();
    return !enter() ? fail(make_error_code(errc::closed)) : try_until_blocked();
}

// Returns true if the operation is done; false if it has to wait.
bool operation::try_until_blocked() noexcept {
    for (;;) {
        const readiness::snapshot seen = ready().look();
        if (seen.is_closed()) [[unlikely]] {
            return fail(make_error_code(errc::closed));
        }
        if (!seen.is_ready()) {
            return false;
        }
        if (try_(*this, seen)) {
            note_closed();
            return true;
        }
        ready().clear(seen);
    }
}

// close() on another thread makes a call fail or end as if the peer had done it.
void operation::note_closed() noexcept {
    if (has_failed() && ready().look().is_closed()) [[unlikely]] {
        fail(make_error_code(errc::closed));
    }
}

bool operation::start(const resume_target& target) noexcept {
    target_ = target;
    if (const std::error_code why = on_->attach(target.executor(), direction_)) [[unlikely]] {
        fail(why);
        return false;
    }
    node_.bind(resume_target(this, &operation::woken, target.executor()));
    const waits how = wait_again();
    if (how == waits::not_any_more && !end_with_part()) {  // stop or a deadline came first
        roost::detail::wait_list::mark(node_, interrupted());
    }
    return how == waits::yes;
}

// Queues the operation, or finishes it. After `yes` it belongs to the thread that claims it.
operation::waits operation::wait_again() noexcept {
    on_->begin_wait(direction_, target_.executor());
    for (;;) {
        switch (ready().enqueue_unless(node_, [this] { return interrupted() != claim::idle; })) {
            case readiness::queued::yes: return waits::yes;
            case readiness::queued::refused: return waits::not_any_more;
            case readiness::queued::is_ready: break;
        }
        if (try_until_blocked()) {
            return waits::is_done;
        }
    }
}

// Runs on the coroutine's executor.
void operation::woken(work& w) noexcept {
    auto& node = static_cast<waiter&>(w);
    static_cast<operation*>(node.frame())->go_on(node.finish());
}

void operation::go_on(claim how) noexcept {
    const bool was_taken = how == claim::cancelled || how == claim::expired;
    if (was_taken && interrupted() == claim::idle) {
        fail(make_error_code(errc::timed_out));  // the limit of the stream
        resume(claim::idle);
    } else if (was_taken) {
        cut_short(how, false);
    } else if (try_until_blocked()) {
        resume(claim::idle);
    } else {
        switch (wait_again()) {
            case waits::yes: break;
            case waits::is_done: resume(claim::idle); break;
            case waits::not_any_more: cut_short(interrupted(), true); break;
        }
    }
}

// Ends a cancelled operation. is_late: the canceller was told that a wake is on its way.
void operation::cut_short(claim how, bool is_late) noexcept {
    const bool has_part = count_ != 0;
    if ((has_part || is_late) && unwind_ != nullptr && unwind_(target_.frame(), has_part)) {
        return;  // this object is gone
    }
    if (has_part) {
        fail(make_error_code(errc::cancelled));
    }
    resume(has_part ? claim::idle : how);
}

void operation::resume(claim how) noexcept {
    node_.bind(target_);
    if (how != claim::idle) {
        roost::detail::wait_list::mark(node_, how);
    }
    target_.run()(node_);
}

bool operation::try_cancel(claim as) noexcept {
    interrupted_.store(as, mo::relaxed);  // O1
    if (!ready().cancel_locked(node_, as)) {
        return false;
    }
    if (count_ == 0 || !target_.executor()) {
        return true;
    }
    node_.deliver(what_);  // it resumes with what it has
    return false;
}

void operation::settle() noexcept {
    const claim how = node_.finish();
    if (!has_failed() && (how == claim::cancelled || how == claim::expired)) {
        fail(make_error_code(how == claim::expired ? errc::timed_out : errc::cancelled));
    }
}

wait_target operation::waits_on() const noexcept {
    return {direction_ == direction::in ? "readable" : "writable", on_ == nullptr ? "" : on_->name()};
}

void operation::run_blocking(time_point deadline) noexcept {
    set_awaited();
    if (!enter()) {
        fail(make_error_code(errc::closed));
        return;
    }
    if (direction_ == direction::in) {
        on_->sit_out_pause(deadline);
    }
    for (;;) {
        const readiness::snapshot seen = ready().look();
        if (seen.is_closed()) {
            fail(make_error_code(errc::closed));
            return;
        }
        if (try_(*this, seen)) {
            note_closed();
            return;
        }
        if (seam::now() >= deadline) {
            fail(make_error_code(errc::timed_out));
            return;
        }
        static_cast<void>(on_->block(direction_, deadline));
    }
}

}  // namespace roost::inline ROOST_ABI::io::detail
