#include <roost/base/detail/what_runs.hpp>
#include <roost/exec/detail/activity.hpp>
#include <roost/task/detail/frame/burial.hpp>
#include <roost/task/detail/frame/promise_base.hpp>
#include <roost/task/detail/job/job_core.hpp>
#include <roost/task/detail/job/region.hpp>
#include <roost/task/detail/job/scope_core.hpp>

#include <string_view>

// The loop that runs everything in this layer, and destroys frames.
//
// A frame that suspends returns to the loop of its thread. The runner holds the next step: a frame to resume, a boundary to
// call, a cancelled frame to destroy. Cancelled frames are destroyed here and nowhere else: one after the other, innermost
// first, on an empty stack, however long the chain is. A frame that ends and can pass control on by itself
// (task/detail/frame/transfer.hpp) does not need the loop: end_frame().

namespace roost::inline ROOST_ABI::detail {

// A foreign awaiter may have resumed its coroutine before it returns what to resume next: the coroutine goes on first.
void bounce_to(std::coroutine_handle<> next) noexcept {
    runner& here = runner::of_this_thread();
    if (here.next) [[unlikely]] {
        next.resume();
        return;
    }
    here.next = next;
}

void unwind_frame(promise_base& frame, reason why) noexcept {
    runner& here = runner::of_this_thread();
    here.unwinding = &frame;
    here.why = std::move(why);
}

void unwind_frame(promise_base& frame) noexcept { unwind_frame(frame, frame.region().why()); }

job_core& region::owner() const noexcept {
    if (is_marked()) [[likely]] {
        return const_cast<job_core&>(static_cast<const job_core&>(*this));
    }
    job_core* const guest = static_cast<const guest_region&>(*this).owner_;
    return guest != nullptr ? *guest : owner_of_buried();
}

// Only frames that are destroyed run in a region without an owner.
job_core& region::owner_of_buried() noexcept {
    const burial* last = runner::of_this_thread().buried;
    if (last == nullptr || last->region() == nullptr) {
        panic(
            "a generator that was destroyed outside of jobs caught an exception of a destructor and then used its job, but "
            "it has none");
    }
    return last->region()->owner();
}

// Continues as if the frame, which is destroyed, had ended just now.
next_step pass_on_end(await_link& link, ending how, reason& why) noexcept {
    const bool is_boundary = link.is_boundary();
    if (is_boundary && (how == ending::cancelled || !link.ops().only_cancelled())) {
        const next_step step = link.ops().done(link, how, why);
        if (step.is_unwind() && !runner::of_this_thread().why) {
            runner::of_this_thread().why = std::move(why);
        }
        return step;
    }
    promise_base& waiter = is_boundary ? link.ops().waiter(link) : link.waiter();
    link.abandon();
    if (how != ending::cancelled) {
        return next_step::resume(waiter);
    }
    runner::of_this_thread().why = std::move(why);
    return next_step::unwind(waiter);
}

namespace {

// Follows ends and cancellations. Returns the frame to resume, or null if nothing is left to do.
[[gnu::noinline]] promise_base* follow(runner& here) noexcept {
    for (;;) {
        next_step step = next_step::nothing();
        if (promise_base* frame = std::exchange(here.ended, nullptr)) {
            await_link& link = *frame->link();
            bury_ended(*frame);
            reason none;
            step = link.ops().done(link, link.state(), none);
        } else if (promise_base* dying = std::exchange(here.unwinding, nullptr)) {
            reason why = here.why ? here.why.take() : dying->region().why();
            await_link& link = *dying->link();
            if (bury_cancelled(*dying) == ending::returned) [[unlikely]] {
                step = pass_on_end(link, ending::returned, why);
            } else if (!link.is_boundary()) {
                here.unwinding = &link.waiter();
                link.abandon();
                here.why = std::move(why);
                continue;
            } else {
                step = link.ops().done(link, ending::cancelled, why);
            }
            if (step.is_unwind() && !here.why) {
                here.why = std::move(why);
            }
        }
        if (step.frame() == nullptr) {
            return nullptr;
        }
        if (!step.is_unwind()) {
            return step.frame();
        }
        here.unwinding = step.frame();
    }
}

// Names the job that this thread is busy with, for the runtime's watcher. The job may end on another thread while this one is
// still leaving the loop, so the beginning of a name that the job owns is copied.
class busy_with {
public:
    explicit busy_with(const job_core& job) noexcept
        : label_(job.has_literal_name() ? job.name_text() : copy(job.name()), job.made_at()), running_(label_) {}
    busy_with(const busy_with&) = delete;
    busy_with& operator=(const busy_with&) = delete;

private:
    [[gnu::noinline, gnu::cold]] const char* copy(std::string_view name) noexcept {
        text_[name.copy(text_, sizeof text_ - 1)] = '\0';
        return text_;
    }

    char text_[32];
    activity_label label_;
    running_as running_;
};

// For messages about mistakes.
std::string_view running_here(site& where) noexcept {
    const activity_label label = activity::here();
    where = label.site();
    return label.name();
}
[[maybe_unused]] const bool names_what_runs = (set_running_function(&running_here), true);

void run_loop(runner& here, promise_base* frame) noexcept {
    while (frame != nullptr) {
        frame->handle().resume();
        while (here.next) {
            std::exchange(here.next, nullptr).resume();
        }
        frame = here.ended != nullptr || here.unwinding != nullptr ? follow(here) : nullptr;
    }
}

[[gnu::noinline]] void run_loop_timed(runner& here, promise_base* frame, time_point began, std::uint32_t times) noexcept {
    run_loop(here, frame);
    measuring::record(timed::body, now() - began, times);
}

// Runs a body on an empty stack until it suspends or ends.
void run_body(runner& here, promise_base* frame) noexcept {
    if ((watching::now() & watching::measured) != 0) [[unlikely]] {
        time_point began{};
        if (const std::uint32_t times = here.measured.bodies.due(began); times != 0) {
            run_loop_timed(here, frame, began, times);
            return;
        }
    }
    run_loop(here, frame);
}

}  // namespace

void frame_ended(promise_base& frame) noexcept { runner::of_this_thread().ended = &frame; }

// Does what the loop does, from within the frame's last await_suspend, which does not touch the frame again.
std::coroutine_handle<> end_frame(promise_base& frame) noexcept {
    await_link& link = *frame.link();
    if (&link.ops() == &burial_ops) [[unlikely]] {
        frame_ended(frame);
        return std::noop_coroutine();
    }
    bury_ended(frame);
    reason none;
    const next_step step = link.ops().done(link, link.state(), none);
    if (step.is_unwind()) [[unlikely]] {
        runner::of_this_thread().unwinding = step.frame();
        return std::noop_coroutine();
    }
    return step.frame() != nullptr ? step.frame()->handle() : std::coroutine_handle<>(std::noop_coroutine());
}

bool job_core::begins_for_joiner(runner& here) const noexcept {
    const bool mine = here.joining == this;
    here.joining = mine ? nullptr : here.joining;
    return mine;
}

// The usual case is a thread that runs no body yet. A child that its joiner runs is as good: the joiner cannot be resumed
// meanwhile, and the child is nowhere else on this stack.
void job_core::run(promise_base& frame) noexcept {
    runner& here = runner::of_this_thread();
    if (here.entered != nullptr && !begins_for_joiner(here)) [[unlikely]] {
        run_inside_another(here, next_step::resume(frame));
        return;
    }
    job_core* const outer = std::exchange(here.current, this);
    job_core* const entered = std::exchange(here.entered, this);
    const busy_with busy(static_cast<job_core&>(*this));
    here.slice.begin();
    frame.region().begin_steps();
    run_body(here, &frame);
    here.current = outer;
    here.entered = entered;
}

void job_core::run(next_step step) noexcept {
    if (step.frame() == nullptr) {
        return;
    }
    if (!step.is_unwind()) {
        run(*step.frame());
        return;
    }
    runner& here = runner::of_this_thread();
    if (here.entered != nullptr && !begins_for_joiner(here)) [[unlikely]] {
        run_inside_another(here, step);
        return;
    }
    here.unwinding = step.frame();
    job_core* const outer = std::exchange(here.current, this);
    job_core* const entered = std::exchange(here.entered, this);
    const busy_with busy(static_cast<job_core&>(*this));
    here.slice.begin();
    run_loop(here, follow(here));
    here.current = outer;
    here.entered = entered;
}

// An executor that runs work inside post() may resume a body while its own await_suspend is still on this stack, below those
// of the bodies that it has resumed. Then the loop below that await_suspend does the rest, as soon as that has returned. A
// body that is not the innermost one finds its step when those above it have left.
bool job_core::leave_to_own_loop(runner& here, next_step step) noexcept {
    std::coroutine_handle<>* resumed = &here.next;
    promise_base** unwinding = &here.unwinding;
    if (here.current != this) {
        run_inside* level = here.inside;
        while (level != nullptr && level->outer != this) {
            level = level->below;
        }
        if (level == nullptr) {
            return false;
        }
        resumed = &level->next;
        unwinding = &level->unwinding;
        if (step.is_unwind()) {
            here.why = reason();  // read again from the frame's region
        }
    }
    if (step.is_unwind()) {
        *unwinding = step.frame();
    } else {
        *resumed = step.frame()->handle();
    }
    return true;
}

void job_core::run_inside_another(runner& here, next_step step) noexcept {
    if (leave_to_own_loop(here, step)) {
        return;
    }
    run_inside level{here.inside, here.current, here.entered, std::exchange(here.next, nullptr),
                     std::exchange(here.unwinding, step.is_unwind() ? step.frame() : nullptr)};
    if (!step.is_unwind()) {
        here.why = reason();  // of the other body
    }
    here.inside = &level;
    here.current = this;
    here.entered = this;
    here.slice.begin();
    {
        const busy_with busy(static_cast<job_core&>(*this));
        run_loop(here, step.is_unwind() ? follow(here) : step.frame());
    }
    here.inside = level.below;
    here.current = level.outer;
    here.entered = level.entered;
    here.next = level.next;
    here.unwinding = level.unwinding;
}

void promise_base::resume_from_wait() noexcept { region_->owner().run(*this); }

bool promise_base::unwind_from_wait(bool only_with_its_job) noexcept {
    const bool is_cancelled = only_with_its_job ? region_->is_cancelled_with_its_job() : region_->is_cancelled();
    if (!is_cancelled) {
        return false;
    }
    job_core& mine = region_->owner();
    region_->leave_wait();
    runner::of_this_thread().why = region_->why();
    mine.run(next_step::unwind(*this));
    return true;
}

executor_ref promise_base::get_executor() const noexcept { return region_->owner().executor(); }

}  // namespace roost::inline ROOST_ABI::detail
