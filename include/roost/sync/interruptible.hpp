#pragma once

// Lets any Roost wait end early, for any coroutine type.
//
//   auto held = co_await with_stop(m.lock(), token);              ends when stop is requested
//   auto held = co_await with_deadline(m.lock(), deadline);       ends at the deadline
//   if (held) use(*held); else if (held.status() == wait_status::expired) ...
//
// Exactly one of wake, stop and deadline claims the wait. A loser changes nothing: a lock, permit or value goes to the next
// waiter. An interrupted send returns its value. A wait that can complete at once does so, even after stop or the deadline.
//
// Neither stop nor a timer resumes anything inline. Both post the coroutine to an executor: the promise's, or the one passed
// here. A coroutine type without get_executor() does not compile unless an executor is passed; inline_executor is allowed.
// Timers come from that executor, or are passed here. with_stop and with_deadline can be nested.
//
// word     bit 0 registered   the wait is queued and await_suspend no longer uses this object
//          bit 1 claimed      a claimer wants the coroutine to run
//          bit 2, 3           stop or the deadline came, perhaps before there was anything to claim
//
//   starting --registered--> armed --claimed--> both      effect: resume
//   starting --claimed--> early --registered--> both      effect: await_suspend returns false: do not suspend
//   starting --interrupt--> starting, interrupted         effect: none; await_suspend checks and claims the wait itself
//
// id  operation                   order    pairs  carries                                          fails in
// R1  registered: fetch_or        acq_rel  R2     in: an early claimer's writes; out: the set-up   interruptible_model: early_wake
// R2  claimed: fetch_or           acq_rel  R1     in: the set-up; out: the claimer's writes        interruptible_model: early_wake
// R3  interrupt: fetch_or         relaxed  -      nothing: the lock of the wait's list orders it before R4
// R4  interrupted? load           relaxed  -      nothing: after the registration under that lock

#include <roost/base/atomic.hpp>
#include <roost/exec/timer.hpp>
#include <roost/sync/detail/answer_kinds.hpp>
#include <roost/sync/detail/interrupt_source.hpp>
#include <roost/sync/detail/wait_operation.hpp>
#include <roost/sync/wait_status.hpp>

#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>
#include <variant>

namespace roost::inline ROOST_ABI {

// The result of an interruptible wait: the wait's own result, or wait_status::cancelled or expired.
template <class T>
class [[nodiscard]] interrupted_or : public detail::answer<T, detail::interruptible_kind> {
    using base = detail::answer<T, detail::interruptible_kind>;

public:
    explicit interrupted_or(claim why) noexcept : base(detail::status_of(why)) {}
    template <class... Args>
    explicit interrupted_or(std::in_place_t, Args&&... args) : base(std::in_place, std::forward<Args>(args)...) {}
};

template <class Operation, class Source>
class [[nodiscard("it waits only when it is awaited: write co_await")]] interruptible {
    using inner_result = decltype(std::declval<Operation&>().await_resume());
    // True if the wait's own result has a state for "interrupted", and returns what was to be sent.
    static constexpr bool has_interrupted_result = requires(Operation& o, claim c) { o.interrupted(c); };

public:
    using result = std::conditional_t<has_interrupted_result, inner_result, interrupted_or<inner_result>>;

    interruptible(Operation operation, Source source) noexcept : inner_(std::move(operation)), source_(std::move(source)) {}
    interruptible(interruptible&& other) noexcept : inner_(std::move(other.inner_)), source_(std::move(other.source_)) {}

    [[nodiscard]] bool await_ready() noexcept(noexcept(inner_.await_ready())) { return inner_.await_ready(); }
    template <class Promise>
    ROOST_AWAIT_SUSPEND bool await_suspend(std::coroutine_handle<Promise> handle) noexcept {
        if constexpr (!has_executor<Promise>) {
            static_assert(
                Source::has_own_executor,
                "this coroutine type has no executor: pass one, so that stop and deadlines have where to resume it");
        }
        return start(resume_target::of(handle));
    }
    [[nodiscard]] result await_resume() {
        source_.disarm();
        const claim how = inner_.node().state();
        const bool is_interrupted = how == claim::cancelled || how == claim::expired;
        if constexpr (has_interrupted_result) {
            return is_interrupted ? interrupted(how) : inner_.await_resume();
        } else if constexpr (std::is_void_v<inner_result>) {
            inner_.await_resume();
            return is_interrupted ? result(how) : result(std::in_place);
        } else {
            if (is_interrupted) {
                inner_.node().finish();
                return result(how);
            }
            return result(std::in_place, inner_.await_resume());
        }
    }
    [[nodiscard]] result interrupted(claim how) noexcept
        requires has_interrupted_result
    {
        inner_.node().finish();
        return inner_.interrupted(how);
    }

    [[nodiscard]] bool start(const resume_target& target) noexcept {
        target_ = target;
        where_ = source_.executor_or(target.executor());
        source_.arm(&interruptible::interrupt, this, where_);
        if (!inner_.start(resume_target(this, &interruptible::claimed, target.executor()))) {
            source_.disarm();
            return false;
        }
        // A claimer may run from here on. It does not resume the coroutine before registered_bit is set.
        const std::uint32_t interrupted = state_.load(seam::mo::relaxed) & ~claimed_bit;  // R4
        if (interrupted != 0 &&
            inner_.try_cancel((interrupted & bit_of(claim::expired)) != 0 ? claim::expired : claim::cancelled)) {
            return false;
        }
        const std::uint32_t before = state_.fetch_or(registered_bit, seam::mo::acq_rel);  // R1
        return (before & claimed_bit) == 0;
    }
    bool try_cancel(claim as = claim::cancelled) noexcept { return inner_.try_cancel(as); }
    void set_awaited() noexcept {
        if constexpr (requires { inner_.set_awaited(); }) {
            inner_.set_awaited();
        }
    }
    [[nodiscard]] waiter& node() noexcept { return inner_.node(); }
    [[nodiscard]] wait_target waits_on() const noexcept { return inner_.waits_on(); }

private:
    static constexpr std::uint32_t registered_bit = 1;
    static constexpr std::uint32_t claimed_bit = 2;
    static constexpr std::uint32_t bit_of(claim as) noexcept { return as == claim::expired ? 8 : 4; }

    // Called by the stop request or the timer: claims the wait like any canceller, then posts it to the executor.
    static void interrupt(void* object, claim as) noexcept {
        auto& self = *static_cast<interruptible*>(object);
        self.state_.fetch_or(bit_of(as), seam::mo::relaxed);  // R3
        if (self.inner_.try_cancel(as)) {
            post_or_fall_back(self.where_, self.inner_.node(), self.inner_.waits_on().name());
        }
    }
    // Runs where the wake was delivered.
    static void claimed(work& w) noexcept {
        auto& self = *static_cast<interruptible*>(static_cast<waiter&>(w).frame());
        const resume_target target = self.target_;
        if ((self.state_.fetch_or(claimed_bit, seam::mo::acq_rel) & registered_bit) != 0) {  // R2
            self.node().bind(target);
            target.run()(self.node());
        }
    }

    Operation inner_;
    Source source_;
    resume_target target_{nullptr, nullptr, {}};
    executor_ref where_;
    seam::atomic<std::uint32_t> state_{0};
};

// Ends the wait as cancelled when stop is requested on `token`. Pass an executor if the coroutine's promise has none.
template <class Operation>
[[nodiscard]] auto with_stop(Operation operation, std::stop_token token) noexcept {
    using source = detail::stop_source_of<false>;
    return interruptible<Operation, source>(std::move(operation), source(std::move(token), {}));
}
template <class Operation>
[[nodiscard]] auto with_stop(Operation operation, std::stop_token token, executor& where) noexcept {
    using source = detail::stop_source_of<true>;
    return interruptible<Operation, source>(std::move(operation), source(std::move(token), where));
}

// Ends the wait as expired at `deadline`. Uses the executor's timers unless `timers` is passed. Without any, the program ends.
template <class Operation>
[[nodiscard]] auto with_deadline(Operation operation, time_point deadline) noexcept {
    using source = detail::deadline_source_of<false>;
    return interruptible<Operation, source>(std::move(operation), source(deadline, {}, nullptr));
}
template <class Operation>
[[nodiscard]] auto with_deadline(Operation operation, time_point deadline, executor& where, timer_service& timers) noexcept {
    using source = detail::deadline_source_of<true>;
    return interruptible<Operation, source>(std::move(operation), source(deadline, where, &timers));
}

// Refuses any other type of time.
template <class Operation, class Time, class... More>
    requires(!std::is_convertible_v<Time, time_point>)
[[nodiscard]] auto with_deadline(Operation operation, Time, More&...) noexcept {
    static_assert(
        std::is_convertible_v<Time, time_point>,
        "with_deadline takes a time of the executor's timers: with_deadline(wait, timers.now() + 50ms); in a task, "
        "fail_after(50ms, ...) takes a duration");
    return operation;
}

}  // namespace roost::inline ROOST_ABI
