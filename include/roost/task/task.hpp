#pragma once

// task<T>: a coroutine that runs in a job.
//
//   task<std::string> load(std::string key) {
//       auto row = co_await database.find(key);      // a checkpoint: here a cancelled job ends, and nothing below runs
//       co_return row.text();
//   }
//
// Lazy: a task runs when it is awaited (in the same job) or launched (as its own job). Awaiting it costs a frame, and no
// node, lock or reference count. T may be void, a reference or move-only. The frame, with its locals and arguments, is
// destroyed before the awaiting coroutine resumes. The awaiting side keeps the result. So a task<T&> must not return a
// reference to its own parameters or locals.
//
// A cancelled job does not resume from its next await. Its frames are destroyed, innermost first, on the job's executor, and
// joiners see the outcome `cancelled`. Destructors run, catch blocks do not. See on_exit for asynchronous cleanup.

#include <roost/base/assert.hpp>
#include <roost/task/detail/access.hpp>
#include <roost/task/detail/forward.hpp>
#include <roost/task/detail/frame/task_await.hpp>

#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI {

template <class T = void>
class [[nodiscard("a task does nothing until it is awaited or launched")]] task : public detail::task_only {
public:
    using promise_type = detail::task_promise<T>;
    using value_type = T;

    task() noexcept = default;
    task(task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
    template <detail::makes_task C>
        requires std::is_base_of_v<task, C>
    explicit(false) task(C&& call) : task(std::move(call).to_task()) {}
    task& operator=(task&& other) noexcept {
        if (this != &other) {
            reset();
            frame_ = std::exchange(other.frame_, nullptr);
        }
        return *this;
    }
    template <detail::makes_task C>
        requires std::is_base_of_v<task, C>
    task& operator=(C&& call) {
        return *this = std::move(call).to_task();
    }
    ~task() { reset(); }

    // Returns false if the task was moved from: awaited, launched, or passed to another owner.
    [[nodiscard]] explicit operator bool() const noexcept { return frame_ != nullptr; }

private:
    friend class detail::task_promise<T>;
    friend struct detail::task_access;
    explicit task(detail::promise_base& frame) noexcept : frame_(&frame) {}
    [[nodiscard]] const void* borrowed() const noexcept { return frame_ == nullptr ? nullptr : frame_->borrowed(); }
    [[nodiscard]] detail::promise_base& release_frame() noexcept {
        if (frame_ == nullptr) [[unlikely]] {
            detail::panic("task", {}, site(),
                          "it was used before: it has been awaited, launched or moved from; call the coroutine again");
        }
        return *std::exchange(frame_, nullptr);
    }
    void reset() noexcept {
        if (frame_ != nullptr) {
            detail::promise_base& unstarted = *std::exchange(frame_, nullptr);
            if constexpr (ROOST_CHECKED != 0) {
                detail::task_dropped(unstarted);
            }
            detail::drop_unstarted(unstarted);
        }
    }

    detail::promise_base* frame_ = nullptr;
};

}  // namespace roost::inline ROOST_ABI

// The definitions.
#include <roost/task/detail/frame/task_promise.hpp>
