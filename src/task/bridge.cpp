#include <roost/task/detail/bridge.hpp>
#include <roost/task/detail/region.hpp>

namespace roost::inline ROOST_ABI::detail {

namespace {

class bridge {
public:
    using promise_type = bridge_promise;
    explicit(false) bridge(std::coroutine_handle<bridge_promise> handle) noexcept : handle_(handle) {}
    [[nodiscard]] std::coroutine_handle<bridge_promise> handle() const noexcept { return handle_; }

private:
    std::coroutine_handle<bridge_promise> handle_;
};

bridge across(foreign_wait&) { co_return; }

}  // namespace

constinit const wait_functions foreign_wait::functions{
    +[](cancellable&) noexcept { return false; },
    +[](const cancellable&) noexcept { return wait_target("foreign awaitable", ""); }, true};

std::coroutine_handle<bridge_promise> foreign_wait::make_bridge(foreign_wait& for_whom) {
    const auto handle = across(for_whom).handle();
    for_whom.bridge_ = handle;
    return handle;
}

void foreign_wait::drop_bridge() noexcept { std::exchange(bridge_, nullptr).destroy(); }

// The bridge is suspended at its end; whoever resumed it may still be inside the foreign library, so nothing more happens on
// this thread unless it is ours.
void foreign_wait::completed() noexcept { post_or_fall_back(frame().get_executor(), *this, "a task after a foreign await"); }

void foreign_wait::run_completed(work& self) noexcept {
    foreign_wait& mine = static_cast<foreign_wait&>(self);
    mine.drop_bridge();
    mine.end();
    promise_base& frame = mine.frame();
    if (frame.where().is_cancelled() && mine.discard_(mine)) {
        runner::of_this_thread().why = frame.where().why();
        frame.where().owner().run(next_step::unwind(frame));
        return;
    }
    frame.resume_from_wait();
}

}  // namespace roost::inline ROOST_ABI::detail
