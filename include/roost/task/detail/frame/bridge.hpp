#pragma once

// A foreign awaitable gets, instead of the task's handle, a small coroutine (its frame is recycled). When that is resumed, on
// any thread, it brings the task back to its own executor with its current job set.

#include <roost/task/detail/job/region.hpp>

#include <coroutine>
#include <exception>

namespace roost::inline ROOST_ABI::detail {

class bridge_promise;

// The task's side; lives in the awaiting frame. It is in the region's wait slot only to be shown in reports: a cancel does
// not take it out. So it goes in before the foreign await begins, and the resumed body takes it out.
class foreign_wait : private work, private cancellable {
public:
    // Takes and destroys the result of the completed await. Returns false if the await failed and keep_failure() was called.
    using discard_function = bool (*)(foreign_wait&) noexcept;

    foreign_wait(promise_base& frame, discard_function discard) noexcept
        : work(run_completed), cancellable(frame, functions), discard_(discard) {}

    using cancellable::frame;

protected:
    ~foreign_wait() = default;

    [[nodiscard]] static std::coroutine_handle<bridge_promise> make_bridge(foreign_wait& for_whom);
    void drop_bridge() noexcept;
    void begin() noexcept { static_cast<void>(frame().region().commit(*this)); }
    void end() noexcept { frame().region().disarm(*this); }
    // Returns true if the job itself is cancelled, not only a region that its body is in.
    [[nodiscard]] static bool is_job_cancelled(const promise_base& frame) noexcept;
    void keep_failure(std::exception_ptr error) noexcept { failure_ = std::move(error); }
    void rethrow_if_failed() {
        if (failure_) {
            std::rethrow_exception(failure_);
        }
    }

private:
    friend class bridge_promise;
    // Called when the bridge was resumed, on any thread.
    void completed() noexcept;
    // Called when the bridge was destroyed instead.
    void lost() noexcept;
    static void run_completed(work& self) noexcept;

    static const wait_functions functions;
    discard_function discard_;
    std::coroutine_handle<bridge_promise> bridge_;
    std::exception_ptr failure_;
};

class bridge_promise {
public:
    explicit bridge_promise(foreign_wait& target) noexcept : target_(&target) {}
    bridge_promise(const bridge_promise&) = delete;
    bridge_promise& operator=(const bridge_promise&) = delete;
    ~bridge_promise() {
        if (target_ != nullptr) [[unlikely]] {
            target_->lost();
        }
    }
    void let_go() noexcept { target_ = nullptr; }

    static void* operator new(std::size_t size) { return allocate_frame(size); }
    static void operator delete(void* memory, std::size_t size) noexcept { deallocate_frame(memory, size); }

    std::coroutine_handle<bridge_promise> get_return_object() noexcept {
        return std::coroutine_handle<bridge_promise>::from_promise(*this);
    }
    [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
    class last {
    public:
        last() noexcept = default;
        [[nodiscard]] bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<bridge_promise> self) const noexcept {
            self.promise().target_->completed();
        }
        void await_resume() const noexcept {}
    };
    [[nodiscard]] last final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept {}

    [[nodiscard]] executor_ref get_executor() const noexcept { return target_->frame().get_executor(); }

private:
    foreign_wait* target_;
};

}  // namespace roost::inline ROOST_ABI::detail
