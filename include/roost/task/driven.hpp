#pragma once

// Runs a task for code that is no job: for a pool whose create, destroy or check is a task, for a coroutine of another type.
//
//   co_await awaitable_on(load(key), executor);      in any coroutine: returns the value, or throws the error
//
// The task becomes a job of its own on that executor. It runs to its end even if the waiting coroutine is destroyed. A task
// that ends cancelled throws task_cancelled. Further failures go to the failure sink. Not movable: await it where it is made.

#include <roost/task/block_on.hpp>

#include <coroutine>
#include <optional>
#include <utility>

namespace roost::inline ROOST_ABI {

namespace detail {

void require_executor(executor_ref where, site from) noexcept;

template <class T>
class driven_task {
public:
    driven_task(task<T> t, executor_ref where, site from) : task_(std::move(t)), where_(where), from_(from) {
        require_executor(where, from);
    }
    driven_task(const driven_task&) = delete;
    driven_task& operator=(const driven_task&) = delete;

    // Starts the job. Returns the node above it; cancelling that node cancels the job.
    node& begin() {
        auto* root = new root_block(where_, "driven", from_, silent_policy);
        root_ = node_ref<root_block>::adopt(root);
        try {
            block_ = start_job<T>(*root, "driven", task_.release_frame(), start::scheduled, from_);
        } catch (...) {
            root->close();
            throw;
        }
        root->close();
        wait_.emplace(&root->ended);
        return *root;
    }
    [[nodiscard]] bool await_ready() {
        if (!wait_) {
            begin();
        }
        return wait_->await_ready();
    }
    template <class Promise>
    ROOST_AWAIT_SUSPEND bool await_suspend(std::coroutine_handle<Promise> handle) noexcept {
        return wait_->await_suspend(handle);
    }
    T await_resume() {
        wait_->await_resume();
        return value_of_root<T>(*block_);
    }

private:
    task<T> task_;
    executor_ref where_;
    site from_;
    node_ref<root_block> root_;
    node_ref<job_block<T>> block_;
    std::optional<event::operation> wait_;
};

}  // namespace detail

template <class T>
[[nodiscard]] detail::driven_task<T> awaitable_on(task<T> t, executor_ref where,
                                                  std::source_location from = std::source_location::current()) {
    return detail::driven_task<T>(std::move(t), where, from);
}

}  // namespace roost::inline ROOST_ABI
