#include <roost/exec/activity.hpp>
#include <roost/task/detail/job_core.hpp>
#include <roost/task/detail/promise.hpp>
#include <roost/task/detail/region.hpp>

#include <string_view>

// The loop that everything in this layer runs in, and the place where frames die.
//
// A frame that suspends returns to the loop of its thread, which then knows from the runner whether something follows: a
// frame to resume, a boundary to tell, a cancelled frame to destroy. Frames are destroyed here and nowhere else while a body
// is under way: one after the other, innermost first, on an empty stack, however long the chain is.

namespace roost::inline ROOST_ABI::detail {

runner& runner::of_this_thread() noexcept {
    struct tag;
    return thread_value<tag, runner>::get();
}

void bounce_to(std::coroutine_handle<> next) noexcept { runner::of_this_thread().next = next; }

void unwind_frame(promise_base& frame, reason why) noexcept {
    runner& here = runner::of_this_thread();
    here.unwinding = &frame;
    here.why = std::move(why);
}

void unwind_frame(promise_base& frame) noexcept { unwind_frame(frame, frame.where().why()); }

void frame_ended(promise_base& frame) noexcept { runner::of_this_thread().ended = &frame; }

namespace {

// Destroys a frame whose awaiter must not do it any more.
await_link& bury(promise_base& frame) noexcept {
    await_link& link = *frame.link();
    link.child_ = nullptr;
    frame.handle().destroy();
    return link;
}

// Follows ends and cancellations until some frame is to be resumed, or nothing is left to do.
promise_base* follow(runner& here) noexcept {
    for (;;) {
        next_step step = next_step::nothing();
        if (promise_base* frame = std::exchange(here.ended, nullptr)) {
            await_link& link = *frame->link();
            const ending how = link.state_;
            bury(*frame);
            reason none;
            step = link.ops_->done(link, how, none);
        } else if (promise_base* dying = std::exchange(here.unwinding, nullptr)) {
            reason why = std::move(here.why);
            await_link& link = bury(*dying);
            if (link.ops_ == nullptr) {
                here.unwinding = link.waiter();
                here.why = std::move(why);
                continue;
            }
            step = link.ops_->done(link, ending::cancelled, why);
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

// Tells whoever watches this thread which job it is busy with. The beginning of the name is copied: the job may end on
// another thread while this one is still on its way out of the loop.
class busy_with {
public:
    explicit busy_with(const job_core& job) noexcept
        : length_(job.name().copy(text_, sizeof text_)),
          label_(std::string_view(text_, length_), job.made_at()),
          running_(label_) {}
    busy_with(const busy_with&) = delete;
    busy_with& operator=(const busy_with&) = delete;

private:
    char text_[32];
    std::size_t length_;
    activity_label label_;
    running_as running_;
};

void run_loop(runner& here, promise_base* frame) noexcept {
    while (frame != nullptr) {
        frame->handle().resume();
        while (here.next) {
            std::exchange(here.next, nullptr).resume();
        }
        frame = here.ended != nullptr || here.unwinding != nullptr ? follow(here) : nullptr;
    }
}

}  // namespace

// An executor that runs work inside post() may bring a body back while its own await_suspend is still on this stack. Then
// the loop below it does the rest, as soon as that has returned.
void body::run(promise_base& frame) noexcept {
    runner& here = runner::of_this_thread();
    if (here.current == this) [[unlikely]] {
        here.next = frame.handle();
        return;
    }
    body* outer = std::exchange(here.current, this);
    const busy_with busy(static_cast<job_core&>(*this));
    run_loop(here, &frame);
    here.current = outer;
}

void body::run(next_step step) noexcept {
    if (step.frame() == nullptr) {
        return;
    }
    if (!step.is_unwind()) {
        run(*step.frame());
        return;
    }
    runner& here = runner::of_this_thread();
    here.unwinding = step.frame();
    if (here.current == this) [[unlikely]] {
        return;
    }
    body* outer = std::exchange(here.current, this);
    const busy_with busy(static_cast<job_core&>(*this));
    run_loop(here, follow(here));
    here.current = outer;
}

void promise_base::resume_from_wait() noexcept { region_->owner().run(*this); }

executor_ref promise_base::get_executor() const noexcept { return region_->owner().where(); }

}  // namespace roost::inline ROOST_ABI::detail
