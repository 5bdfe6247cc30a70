#pragma once

// A queue of coroutines and blocked threads that wait for somebody else's condition to become true.
//
//   waiting:  while (!ready.load(seq_cst)) co_await queue.add_waiter_if([&] { return ready.load(seq_cst); });
//   waking:   ready.store(true, seq_cst);  queue.wake_one();
//
// add_waiter_if(condition) evaluates the condition inside the registration, under the queue's lock. If it holds, nothing is
// registered and the wait completes at once; otherwise it completes when it is woken, and the caller looks again.
//
// No wake is lost, provided the condition's state is changed before the wake and both sides use seq_cst (or a
// read-modify-write followed by the wake): the waker's change comes before its look at the queue, the waiter's registration
// comes before its look at the state, so at least one of them sees the other. Waking nobody costs one load.
//
// Resumes: on the coroutine's executor, or on the waking thread after every lock has been left. Cancelled: try_cancel().
// Destroy: when nobody waits; a waiter that has been woken may destroy it at once.
// The condition must not touch this queue, must not throw, and should be short.

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

    // co_await gives true when it waited and was woken, false when the condition held.
    template <class Condition>
    [[nodiscard("it waits only when it is awaited: write co_await")]] operation<Condition> add_waiter_if(
        Condition condition) noexcept {
        return operation<Condition>(*this, std::move(condition));
    }
    // For threads: the same, blocking. False: the deadline passed; true: woken, or the condition held.
    template <class Condition>
    bool wait_blocking(Condition condition, time_limit deadline = no_deadline) noexcept {
        return wait_blocking_with<parker>(std::move(condition), deadline);
    }
    template <class Parker, class Condition>
    bool wait_blocking_with(Condition condition, time_limit deadline = no_deadline) noexcept;

    // Wakes the one that has waited longest. Says whether there was one.
    bool wake_one() noexcept { return !waiters_.is_idle() && wake_first(); }
    // Wakes up to n, longest first; says how many.
    std::size_t wake_n(std::size_t n) noexcept { return waiters_.is_idle() ? 0 : wake_some(n); }
    // Wakes everybody who is queued at this moment, atomically: whoever queues up afterwards, even from inside this call, is
    // not woken by it.
    void wake_all() noexcept {
        if (!waiters_.is_idle()) {
            wake_everybody();
        }
    }

    [[nodiscard]] std::size_t size_approx() const noexcept { return waiters_.size_approx(); }
    [[nodiscard]] std::size_t waiters_now() const noexcept { return waiters_.size_approx(); }
    [[nodiscard]] const char* name() const noexcept { return name_; }

private:
    template <class Condition>
    [[nodiscard]] bool enqueue_unless(waiter& w, Condition& condition) noexcept {
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
    // Nothing can be unwound from under the lock: ends the program with what was thrown.
    [[noreturn, gnu::cold]] void condition_threw() noexcept;
    [[nodiscard]] bool cancel(waiter& w, claim as) noexcept;
    bool wake_first() noexcept;
    std::size_t wake_some(std::size_t n) noexcept;
    void wake_everybody() noexcept;
    [[nodiscard]] wait_target describe() const noexcept { return {"waiter queue", name_}; }

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
            detail::never_awaited(waits_on(), "add_waiter_if(condition)");
        }
    }

    [[nodiscard]] bool await_ready() noexcept {
        set_awaited();
        return false;
    }
    void set_awaited() noexcept { node_.set_awaited(); }
    template <class Promise>
    ROOST_AWAIT_SUSPEND bool await_suspend(std::coroutine_handle<Promise> handle) noexcept {
        return start(resume_target::of(handle));
    }
    bool await_resume() noexcept { return node_.finish() != claim::idle; }

    [[nodiscard]] bool start(const resume_target& target) noexcept {
        node_.bind(target);
        return queue_->enqueue_unless(node_, condition_);
    }
    bool try_cancel(claim as = claim::cancelled) noexcept { return queue_->cancel(node_, as); }
    [[nodiscard]] waiter& node() noexcept { return node_; }
    [[nodiscard]] wait_target waits_on() const noexcept { return queue_->describe(); }

private:
    void abandon() noexcept {
        if (node_.state() == claim::delivered) {
            queue_->wake_one();  // it will never run: the wake was meant for somebody who does
        } else if (node_.state() == claim::waiting && !queue_->cancel(node_, claim::cancelled)) {
            detail::destroyed_while_woken(queue_->describe());
        }
    }

    waiter_queue* queue_;
    waiter node_;
    Condition condition_;
};

template <class Parker, class Condition>
bool waiter_queue::wait_blocking_with(Condition condition, time_limit deadline) noexcept {
    detail::basic_thread_waiter<Parker> self;
    return !enqueue_unless(self, condition) || self.block(deadline, [&]() noexcept { return cancel(self, claim::expired); });
}

}  // namespace roost::inline ROOST_ABI
