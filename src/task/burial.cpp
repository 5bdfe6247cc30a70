#include <roost/task/detail/frame/burial.hpp>

#include <roost/base/detail/quiet_drops.hpp>
#include <roost/base/failure_sink.hpp>
#include <roost/task/detail/job/job_core.hpp>

namespace roost::inline ROOST_ABI::detail {

namespace {

// Frames that are destroyed inside each other on one stack. The locals of a generator may refer to those of the generator that
// holds it, so that the order matters more.
constexpr std::uint16_t most_unstarted = 32;
constexpr std::uint16_t most_suspended = 128;

// A destructor threw: in the job that runs here, or in none.
void keep_thrown(std::exception_ptr error) noexcept {
    if (job_core* running = job_core::current()) {
        running->add_suppressed(std::move(error));
    } else {
        report_failure("a destructor in a task outside of jobs", "", site(), std::move(error));
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

// Always cancelled. One per thread, because a region counts the steps of what is in it. Never destroyed, so that a thread can
// destroy frames to its end; nothing refers to it after a burial.
class grave_region final : public guest_region {
public:
    grave_region() : guest_region(functions, "burial", site()) { cancel(reason::plain_kind(reason_kind::dropped)); }

private:
    static constexpr node_functions functions{.kind = "region", .own = own_work::none};
};
class grave_place {
public:
    void* get() noexcept { return bytes_; }

private:
    alignas(grave_region) unsigned char bytes_[sizeof(grave_region)];
};

[[gnu::noinline]] region& make_grave(runner& here) noexcept {
    class tag;
    here.grave = ::new (thread_value<tag, grave_place>::get().get()) grave_region;
    return *here.grave;
}

}  // namespace

constinit const link_ops burial_ops(+[](await_link&, ending, reason&) noexcept -> next_step {
    panic("the end of a frame that was being destroyed reached its awaiter");
});

burial::burial(promise_base& frame, await_link& link, detail::region* in) noexcept
    : here_(&runner::of_this_thread()),
      outer_(std::exchange(here_->buried, this)),
      frame_(&frame),
      link_(&link),
      in_(in),
      before_(link.put_between(burial_ops)) {
    frame.set_where(here_->grave != nullptr ? *here_->grave : make_grave(*here_));
}

burial::~burial() {
    link_->take_out(before_);
    here_->buried = outer_;
}

// Each turn but the last was ended by a destructor that threw.
bool burial::destroy() noexcept {
    for (;;) {
        detail::destroy(*frame_);
        if (here_->ended == frame_) {
            here_->ended = nullptr;
            detail::destroy(*frame_);
            return true;
        }
        if (here_->unwinding != frame_) {
            return false;
        }
        here_->unwinding = nullptr;  // it caught that, and stands in its next await, which does not begin
        here_->why = reason();
    }
}

void bury_ended(promise_base& frame) noexcept { destroy(frame); }

// Nothing is reported of tasks and waits among its locals and arguments that were never used; nor below.
ending bury_cancelled(promise_base& frame) noexcept {
    const quiet_drops quiet;
    auto& link = static_cast<settled_link&>(*frame.link());
    const bool came_to_its_end = burial(frame, link, &frame.region()).destroy();
    if (!came_to_its_end) [[likely]] {
        return ending::cancelled;
    }
    if (link.state() == ending::threw) {
        keep_thrown(link.take_error());
        return ending::cancelled;
    }
    return ending::returned;
}

namespace {

void destroy_dropped(promise_base& frame) noexcept {
    result_link<void> last;
    frame.set_link(last);
    static_cast<void>(burial(frame, last, job_core::current()).destroy());
    if (last.state() == ending::threw) {
        keep_thrown(last.take_error());
    }
}

// What a frame holds is destroyed in the order of the language, except below the innermost one that has a place on this stack:
// what hangs there waits in a list until that one is gone.
template <class Destroy>
void drop(promise_base& frame, std::uint16_t most, Destroy destroy_it) noexcept {
    runner& here = runner::of_this_thread();
    if (here.dropping >= most) {
        frame.set_next_dropped(here.to_drop);
        here.to_drop = &frame;
        return;
    }
    const quiet_drops quiet;
    ++here.dropping;
    destroy_it(frame);
    while (here.to_drop != nullptr) {
        promise_base& next = *here.to_drop;
        here.to_drop = next.next_dropped();
        destroy_dropped(next);
    }
    --here.dropping;
}

}  // namespace

void drop_suspended(promise_base& frame) noexcept { drop(frame, most_suspended, destroy_dropped); }
void drop_unstarted(promise_base& frame) noexcept { drop(frame, most_unstarted, destroy); }

}  // namespace roost::inline ROOST_ABI::detail
