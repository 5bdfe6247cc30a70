#pragma once

// What co_await blocking(...) runs.

#include <roost/base/error.hpp>
#include <roost/exec/blocking.hpp>
#include <roost/exec/executor.hpp>
#include <roost/exec/resume.hpp>
#include <roost/runtime/blocking_lane.hpp>
#include <roost/runtime/detail/blocking_phase.hpp>
#include <roost/runtime/detail/blocking_result.hpp>
#include <roost/sync/waiter.hpp>

#include <coroutine>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

struct no_interrupter {
    void operator()() const noexcept {}
};

template <class Interrupter, class Fn, class... Args>
class blocking_await final : private blocking_work {
public:
    using result_type = std::invoke_result_t<Fn, Args...>;

    template <class F, class... A>
    explicit blocking_await(blocking_service* lane, Interrupter interrupter, F&& fn, A&&... args)
        : blocking_work(+[](work& w) noexcept { static_cast<blocking_await&>(w).execute(); }),
          lane_(lane),
          interrupter_(std::move(interrupter)),
          fn_(std::forward<F>(fn)),
          args_(std::forward<A>(args)...) {}
    // For deadlines and races that take the awaiter over. Requires that it is not awaited yet: afterwards the lane points
    // to it.
    blocking_await(blocking_await&& other) noexcept(std::is_nothrow_move_constructible_v<Fn> &&
                                                    std::is_nothrow_move_constructible_v<std::tuple<Args...>>)
        : blocking_await(other.lane_, std::move(other.interrupter_), std::move(other.fn_), std::move(other.args_), moved{}) {
    }
    blocking_await(const blocking_await&) = delete;
    blocking_await& operator=(const blocking_await&) = delete;
    ~blocking_await() {
        if (suspended_ && !lane_->withdraw(*this)) {
            phase_.require_over();
        }
    }

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> handle) noexcept {
        frame_ = handle.address();
        resume_ = resume_function_of<Promise>();
        executor_ = executor_of(handle);
        if (lane_ == nullptr) {
            lane_ = executor_ ? executor_->blocking() : nullptr;
        }
        require_lane(lane_, executor_);
        set_label(activity::here());
        suspended_ = true;
        if (lane_->submit(*this)) {
            return true;  // another thread may have resumed the coroutine already: no member is touched from here on
        }
        suspended_ = false;
        refused_ = true;
        return false;
    }
    result_type await_resume() {
        suspended_ = false;
        if (refused_) {
            throw std::system_error(make_error_code(errc::closed),
                                    "the blocking lane refused the work: it is closed, or no thread can be started");
        }
        return result_.take();
    }

    [[nodiscard]] wait_target waits_on() const noexcept { return {"blocking function", ""}; }
    // Returns true if fn had not started; it never will. Otherwise the await completes with what fn returns.
    [[nodiscard]] bool try_cancel() noexcept {
        if (lane_->withdraw(*this)) {
            suspended_ = false;
            return true;
        }
        if (phase_.begin_interrupt()) {
            interrupter_();
            phase_.end_interrupt();
        }
        return false;
    }

private:
    struct moved {};
    blocking_await(blocking_service* lane, Interrupter&& interrupter, Fn&& fn, std::tuple<Args...>&& args, moved)
        : blocking_work(+[](work& w) noexcept { static_cast<blocking_await&>(w).execute(); }),
          lane_(lane),
          interrupter_(std::move(interrupter)),
          fn_(std::move(fn)),
          args_(std::move(args)) {}

    void execute() noexcept {
        phase_.begin();
        result_.run(fn_, args_);
        phase_.end();
        set_run(+[](work& w) noexcept {
            auto& me = static_cast<blocking_await&>(w);
            blocking_lane::has_delivered();  // without an executor, or with one that runs it at once: on the lane's thread
            me.resume_(me.frame_);
        });
        if (!blocking_lane::may_deliver()) {
            return;  // abandoned: the executor may be gone, and the coroutine is never resumed
        }
        if (executor_) {
            post_or_fall_back(executor_, *this, "the result of a blocking function");
        } else {
            run();
        }
    }

    blocking_service* lane_;
    blocking_phase phase_;
    bool suspended_ = false;
    bool refused_ = false;
    void* frame_ = nullptr;
    resume_function resume_ = nullptr;
    executor_ref executor_;
    [[no_unique_address]] Interrupter interrupter_;
    Fn fn_;
    std::tuple<Args...> args_;
    blocking_result<result_type> result_;
};

}  // namespace roost::inline ROOST_ABI::detail
