#pragma once

// The wait behind with_stop and with_deadline.
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
#include <roost/sync/detail/wait_operation.hpp>
#include <roost/sync/waiter.hpp>

#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI {

namespace ext {
template <class T>
class interrupted_or;
}

namespace detail {

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
            static_assert(Source::has_own_executor,
                          "this coroutine type has no executor, so stop and deadlines have nowhere to resume it: pass one, "
                          "with_stop(wait, token, executor) or with_deadline(wait, time, executor)");
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
        const std::uint32_t interrupted = state_.load(mo::relaxed) & ~claimed_bit;  // R4
        if (interrupted != 0 &&
            inner_.try_cancel((interrupted & bit_of(claim::expired)) != 0 ? claim::expired : claim::cancelled)) {
            return false;
        }
        const std::uint32_t before = state_.fetch_or(registered_bit, mo::acq_rel);  // R1
        return (before & claimed_bit) == 0;
    }
    bool try_cancel(claim as = claim::cancelled) noexcept { return inner_.try_cancel(as); }
    bool end_with_part() noexcept
        requires requires(Operation& o) { o.end_with_part(); }
    {
        return inner_.end_with_part();
    }
    void set_awaited() noexcept {
        if constexpr (requires { inner_.set_awaited(); }) {
            inner_.set_awaited();
        }
    }
    [[nodiscard]] waiter& node() noexcept { return inner_.node(); }
    [[nodiscard]] wait_target waits_on() const noexcept { return inner_.waits_on(); }
    static constexpr bool takes_permits = is_taking<Operation>;
    [[nodiscard]] wait_subject subject() const noexcept
        requires requires(const Operation& o) { o.subject(); }
    {
        return inner_.subject();
    }

private:
    static constexpr std::uint32_t registered_bit = 1;
    static constexpr std::uint32_t claimed_bit = 2;
    static constexpr std::uint32_t bit_of(claim as) noexcept { return as == claim::expired ? 8 : 4; }

    // Called by the stop request or the timer: claims the wait like any canceller, then posts it to the executor.
    static void interrupt(void* object, claim as) noexcept {
        auto& self = *static_cast<interruptible*>(object);
        self.state_.fetch_or(bit_of(as), mo::relaxed);  // R3
        if (self.inner_.try_cancel(as)) {
            post_or_fall_back(self.where_, self.inner_.node(), self.inner_.waits_on().name());
        }
    }
    // Runs where the wake was delivered.
    static void claimed(work& w) noexcept {
        auto& self = *static_cast<interruptible*>(static_cast<waiter&>(w).frame());
        const resume_target target = self.target_;
        if ((self.state_.fetch_or(claimed_bit, mo::acq_rel) & registered_bit) != 0) {  // R2
            self.node().bind(target);
            target.run()(self.node());
        }
    }

    Operation inner_;
    Source source_;
    resume_target target_{nullptr, nullptr, {}};
    executor_ref where_;
    atomic<std::uint32_t> state_{0};
};

}  // namespace detail
}  // namespace roost::inline ROOST_ABI
