#pragma once

// A queue of coroutines and blocked threads that wait until a condition of the caller's becomes true.
//
//   waiting:  while (!ready.load(seq_cst)) co_await queue.wait_unless([&] { return ready.load(seq_cst); });
//   waking:   ready.store(true, seq_cst);  queue.wake_one();
//
// wait_unless(condition) evaluates the condition inside the registration, under the queue's lock. If it holds, the wait
// completes at once and nothing is registered. Otherwise it completes when it is woken, and the caller checks again.
//
// No wake is lost if the waker changes the state before it wakes. Both sides must use seq_cst or a read-modify-write. The
// waker's change precedes its load of the queue; the waiter's registration precedes its load of the state. So at least one
// of them sees the other. Waking an empty queue costs one load.
//
// Resumes: on the coroutine's executor; without one, on the waking thread, after it has released every lock.
// Cancelled: by try_cancel(). Destroy: when no waiter is queued. A waiter that has been woken may destroy it at once.
// Requires a condition that does not use this queue and does not throw; it should be short.

#include <roost/base/literal.hpp>
#include <roost/base/time_limit.hpp>
#include <roost/sync/detail/wait_list.hpp>
#include <roost/sync/detail/wait_operation.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI {

class waiter_queue {
public:
    template <class Condition>
    class operation;

    constexpr explicit waiter_queue(literal name = "") noexcept : name_(name.text()) {}
    ~waiter_queue();

    // Waits unless the condition holds. co_await returns true if it waited and was woken, false if the condition held.
    template <class Condition>
    [[nodiscard("it waits only when it is awaited: write co_await")]] operation<Condition> wait_unless(
        Condition condition) noexcept {
        return operation<Condition>(*this, std::move(condition));
    }
    template <class Condition>
    [[deprecated("use wait_unless(condition)"), nodiscard]] operation<Condition> add_waiter_if(
        Condition condition) noexcept {
        return wait_unless(std::move(condition));
    }
    // Blocks the calling thread instead. Returns true if it was woken or the condition held, false if the deadline passed.
    template <class Condition>
    bool wait_blocking(Condition condition, time_limit deadline = no_deadline) noexcept {
        return wait_blocking_with<detail::parker>(std::move(condition), deadline);
    }
    template <class Parker, class Condition>
    bool wait_blocking_with(Condition condition, time_limit deadline = no_deadline) noexcept;

    // Wakes the waiter that has waited longest. Returns true if there was one.
    bool wake_one() noexcept { return !waiters_.is_idle() && wake_first(); }
    // Wakes up to n waiters, in the order of arrival. Returns how many.
    std::size_t wake_n(std::size_t n) noexcept { return waiters_.is_idle() ? 0 : wake_some(n); }
    // Wakes all waiters queued at this moment, atomically. It does not wake later ones, even if they queue during this call.
    void wake_all() noexcept {
        if (!waiters_.is_idle()) {
            wake_queued();
        }
    }

    [[nodiscard]] std::size_t size_approx() const noexcept { return waiters_.size_approx(); }
    [[deprecated("use size_approx()")]] [[nodiscard]] std::size_t waiters_now() const noexcept { return size_approx(); }
    [[nodiscard]] const char* name() const noexcept { return name_; }

private:
    template <class Condition>
    [[nodiscard]] bool enqueue_unless(ext::waiter& w, Condition& condition) noexcept {
        waiters_.lock();
        if (holds(condition)) {  // recheck
            waiters_.unlock();
            return false;
        }
        waiters_.push_back(w);
        waiters_.unlock(true);
        return true;
    }
    template <class Condition>
    [[nodiscard]] bool holds(Condition& condition) noexcept {
        if constexpr (std::is_nothrow_invocable_v<Condition&>) {
            return condition();
        } else {
            try {
                return condition();
            } catch (...) {
                condition_threw();
            }
        }
    }
    // Ends the program with the exception's text: nothing can be unwound while the lock is held.
    [[noreturn, gnu::cold]] void condition_threw() noexcept;
    [[nodiscard]] bool cancel(ext::waiter& w, ext::claim as) noexcept;
    bool wake_first() noexcept;
    std::size_t wake_some(std::size_t n) noexcept;
    void wake_queued() noexcept;
    [[nodiscard]] ext::wait_target describe() const noexcept { return {"waiter queue", name_}; }

    detail::wait_list waiters_;
    const char* name_;
};

template <class Condition>
class [[nodiscard("it waits only when it is awaited: write co_await")]] waiter_queue::operation {
public:
    operation(waiter_queue& queue, Condition condition) noexcept : queue_(&queue), condition_(std::move(condition)) {}
    operation(operation&&) noexcept = default;
    ~operation() {
        if (node_.is_started()) {
            abandon();
        } else if (node_.is_unused()) {
            detail::never_awaited(waits_on(), "wait_unless(condition)");
        }
    }

    [[nodiscard]] bool await_ready() noexcept {
        set_awaited();
        return false;
    }
    void set_awaited() noexcept { node_.set_awaited(); }
    template <class Promise>
    ROOST_AWAIT_SUSPEND bool await_suspend(std::coroutine_handle<Promise> handle) noexcept {
        return start(ext::resume_target::of(handle));
    }
    bool await_resume() noexcept { return node_.finish() != ext::claim::idle; }

    [[nodiscard]] bool start(const ext::resume_target& target) noexcept {
        node_.bind(target);
        return queue_->enqueue_unless(node_, condition_);
    }
    bool try_cancel(ext::claim as = ext::claim::cancelled) noexcept { return queue_->cancel(node_, as); }
    [[nodiscard]] ext::waiter& node() noexcept { return node_; }
    [[nodiscard]] ext::wait_target waits_on() const noexcept { return queue_->describe(); }

private:
    void abandon() noexcept {
        if (node_.state() == ext::claim::delivered) {
            queue_->wake_one();  // this one will never run: pass the wake on
        } else if (node_.state() == ext::claim::waiting && !queue_->cancel(node_, ext::claim::cancelled)) {
            detail::destroyed_while_woken(queue_->describe());
        }
    }

    waiter_queue* queue_;
    ext::waiter node_;
    Condition condition_;
};

template <class Parker, class Condition>
bool waiter_queue::wait_blocking_with(Condition condition, time_limit deadline) noexcept {
    detail::basic_thread_waiter<Parker> self;
    return !enqueue_unless(self, condition) ||
           self.block(deadline, [&]() noexcept { return cancel(self, ext::claim::expired); });
}

}  // namespace roost::inline ROOST_ABI
