#pragma once

// The awaiter of awaitable_on(): runs a task as a job without a parent, for a coroutine that is no job.

#include <roost/sync/event.hpp>
#include <roost/task/detail/job/root_job.hpp>
#include <roost/task/task.hpp>

#include <coroutine>
#include <optional>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

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
            block_ = start_job<T>(*root, "driven", task_access::release_frame(task_), start_mode::scheduled, from_);
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

}  // namespace roost::inline ROOST_ABI::detail
