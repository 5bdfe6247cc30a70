// For Roost's own rows below the task layer: a run queue of one thread, and a coroutine that wants to be resumed on it.
#pragma once

#include "lazy.hpp"

#include <roost/exec/executor.hpp>

namespace bench {

// Unsynchronised: posted to and drained by one thread.
class run_queue final : public roost::executor {
public:
    bool post(roost::ext::work& w) noexcept override {
        queue_.push(w);
        return true;
    }
    [[nodiscard]] bool is_here() const noexcept override { return true; }
    void drain() noexcept {
        while (roost::ext::work* w = queue_.pop()) w->run();
    }

private:
    roost::ext::work_list queue_;
};

// Starts by hand, resumes on the executor it is given as its first parameter.
class queued {
public:
    struct promise_type : recycled_frame {
        roost::executor_ref where;
        template <class... Args>
        explicit promise_type(roost::executor& on, Args&&...) noexcept : where(on) {}
        [[nodiscard]] roost::executor_ref get_executor() const noexcept { return where; }
        queued get_return_object() { return queued(std::coroutine_handle<promise_type>::from_promise(*this)); }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::abort(); }
    };

    explicit queued(std::coroutine_handle<promise_type> h) noexcept : handle_(h) {}
    queued(queued&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
    queued& operator=(queued&&) = delete;
    ~queued() {
        if (handle_) handle_.destroy();
    }
    void start() const { handle_.resume(); }
    [[nodiscard]] bool done() const { return handle_.done(); }
    [[nodiscard]] std::coroutine_handle<promise_type> handle() const { return handle_; }

private:
    std::coroutine_handle<promise_type> handle_;
};

} // namespace bench
