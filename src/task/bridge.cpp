#include <roost/base/error.hpp>
#include <roost/task/detail/frame/bridge.hpp>
#include <roost/task/detail/job/job_core.hpp>
#include <roost/task/detail/job/region.hpp>

#include <string>

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

bool foreign_wait::is_job_cancelled(const promise_base& frame) noexcept { return frame.region().owner().is_cancelled(); }

void foreign_wait::drop_bridge() noexcept {
    if (const auto mine = std::exchange(bridge_, nullptr)) {
        mine.promise().let_go();
        mine.destroy();
    }
}

// There is no result: the body receives an error instead.
void foreign_wait::lost() noexcept {
    bridge_ = nullptr;
    try {
        throw error(errc::promise_dropped,
                    "job '" + std::string(frame().region().owner().name()) +
                        "' awaited a foreign awaitable that destroyed the coroutine it was to resume");
    } catch (...) {
        keep_failure(std::current_exception());
    }
    completed();
}

// The bridge is suspended at its end. The thread that resumed it may still be inside the foreign library, so the rest is
// posted.
void foreign_wait::completed() noexcept { post_or_fall_back(frame().get_executor(), *this, "a task after a foreign await"); }

void foreign_wait::run_completed(work& self) noexcept {
    foreign_wait& mine = static_cast<foreign_wait&>(self);
    mine.drop_bridge();
    mine.end();
    promise_base& frame = mine.frame();
    if (is_job_cancelled(frame) && !mine.failure_ && mine.discard_(mine)) {
        runner::of_this_thread().why = frame.region().why();
        frame.region().owner().run(next_step::unwind(frame));
        return;
    }
    frame.resume_from_wait();
}

}  // namespace roost::inline ROOST_ABI::detail
