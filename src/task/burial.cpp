#include <roost/task/detail/burial.hpp>

#include <roost/base/misuse.hpp>
#include <roost/task/detail/job_core.hpp>
#include <roost/task/failure_sink.hpp>

namespace roost::inline ROOST_ABI::detail {

namespace {

constexpr std::uint16_t most_inside_each_other = 32;  // unstarted frames that are destroyed on one stack

// A destructor threw: in the job that runs here, or in none.
void keep_thrown(std::exception_ptr error) noexcept {
    if (body* running = body::current()) {
        static_cast<job_core*>(running)->add_suppressed(std::move(error));
    } else {
        report_failure("a destructor in", "a task that is in no job", site(), std::move(error));
    }
}

// A parameter of the frame may throw, too: that comes out of destroy().
void destroy(promise_base& frame) noexcept {
    try {
        frame.handle().destroy();
    } catch (...) {
        keep_thrown(std::current_exception());
    }
}

// The link is a burial's. Each turn but the last was ended by a destructor that threw. Returns true if the frame came to its
// end instead of being destroyed where it was.
bool destroy_suspended(promise_base& frame) noexcept {
    runner& here = runner::of_this_thread();
    for (;;) {
        destroy(frame);
        if (here.ended == &frame) {
            here.ended = nullptr;
            destroy(frame);
            return true;
        }
        if (here.unwinding != &frame) {
            return false;
        }
        here.unwinding = nullptr;  // it caught that, and stands in its next await, which does not begin
        here.why = reason();
    }
}

}  // namespace

constinit const link_ops burial_ops(+[](await_link&, ending, reason&) noexcept -> next_step {
    panic("the end of a frame that was being destroyed was told to its awaiter");
});

void bury_ended(promise_base& frame) noexcept { destroy(frame); }

// Nothing is reported of tasks and waits among its locals and arguments that were never used; nor below.
ending bury_cancelled(promise_base& frame) noexcept {
    const quiet_drops quiet;
    auto& link = static_cast<settled_link&>(*frame.link());
    const std::uintptr_t before = link.put_between(burial_ops);
    const bool came_to_its_end = destroy_suspended(frame);
    link.take_out(before);
    if (!came_to_its_end) [[likely]] {
        return ending::cancelled;
    }
    if (link.state() == ending::threw) {
        keep_thrown(link.take_error());
        return ending::cancelled;
    }
    return ending::returned;
}

void drop_suspended(promise_base& frame) noexcept {
    result_link<void> last(&burial_ops);
    frame.set_link(last);
    static_cast<void>(destroy_suspended(frame));
    if (last.state() == ending::threw) {
        keep_thrown(last.take_error());
    }
}

// Arguments are destroyed in the order of the language, except below the innermost one that has a place on this stack: what
// hangs there waits in a list until that one is gone.
void drop_unstarted(promise_base& frame) noexcept {
    runner& here = runner::of_this_thread();
    if (here.dropping == most_inside_each_other) {
        frame.set_next_dropped(here.to_drop);
        here.to_drop = &frame;
        return;
    }
    const quiet_drops quiet;
    ++here.dropping;
    destroy(frame);
    while (here.dropping == most_inside_each_other && here.to_drop != nullptr) {
        promise_base& next = *here.to_drop;
        here.to_drop = next.next_dropped();
        destroy(next);
    }
    --here.dropping;
}

}  // namespace roost::inline ROOST_ABI::detail
