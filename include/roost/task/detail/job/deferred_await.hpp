#pragma once

// The awaiter of `co_await deferred`: waits for the child, or runs it, and takes its result.

#include <roost/task/detail/job/settled_wait.hpp>

#include <utility>

namespace roost::inline ROOST_ABI {
template <class T>
class deferred;
}

namespace roost::inline ROOST_ABI::detail {

// In checked builds: reports misuse if the child still runs and was not asked to cancel.
[[gnu::cold]] void deferred_dropped(const job_core& child) noexcept;

template <class T>
class deferred_await final : public settled_wait {
public:
    deferred_await(promise_base& me, deferred<T>&& d) noexcept
        : settled_wait(me, *task_access::block_of(d)), deferred_(std::move(d)) {}
    // A child that has not begun, and that no other thread can have begun, runs inside the await.
    [[nodiscard]] bool await_ready() noexcept {
        ended_here_ = run_here();
        return ended_here_ || settled_wait::await_ready();
    }
    T await_resume() {
        const end_of_child ends(ended_here_ ? task_access::release_block(deferred_) : nullptr);
        return (ended_here_ ? ends.block : task_access::block_of(deferred_))->take();
    }

private:
    // Ends the child after its value was taken: this awaiter may live longer, while others of the same expression wait.
    struct end_of_child {
        explicit end_of_child(job_block<T>* b) noexcept : block(b) {}
        end_of_child(const end_of_child&) = delete;
        end_of_child& operator=(const end_of_child&) = delete;
        ~end_of_child() {
            if (block != nullptr) {
                block->end_joined();
            }
        }
        job_block<T>* block;
    };

    deferred<T> deferred_;
    bool ended_here_ = false;
};

}  // namespace roost::inline ROOST_ABI::detail
