#pragma once

// What can interrupt a wait: a std::stop_token or a timer. Armed before the wait is registered, disarmed before the coroutine
// goes on. disarm() blocks until a running interrupt has returned.

#include <roost/base/assert.hpp>
#include <roost/exec/executor.hpp>
#include <roost/exec/timer.hpp>
#include <roost/sync/waiter.hpp>

#include <optional>
#include <stop_token>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

class interrupt_call {
public:
    using function = void (*)(void* self, claim as) noexcept;

    constexpr interrupt_call() noexcept = default;
    constexpr interrupt_call(function f, void* s, claim c) noexcept : function_(f), self_(s), as_(c) {}
    void operator()() const noexcept { function_(self_, as_); }

private:
    function function_ = nullptr;
    void* self_ = nullptr;
    claim as_ = claim::cancelled;
};

template <bool HasOwnExecutor>
class stop_source_of {
public:
    static constexpr bool has_own_executor = HasOwnExecutor;

    stop_source_of(std::stop_token token, executor_ref where) noexcept : token_(std::move(token)), where_(where) {}
    stop_source_of(stop_source_of&& other) noexcept : token_(std::move(other.token_)), where_(other.where_) {}

    [[nodiscard]] executor_ref executor_or(executor_ref promises) const noexcept { return where_ ? where_ : promises; }
    void arm(interrupt_call::function f, void* self, executor_ref) noexcept {
        callback_.emplace(token_, interrupt_call(f, self, claim::cancelled));
    }
    void disarm() noexcept { callback_.reset(); }

private:
    std::stop_token token_;
    executor_ref where_;
    std::optional<std::stop_callback<interrupt_call>> callback_;
};

template <bool HasOwnExecutor>
class deadline_source_of {
public:
    static constexpr bool has_own_executor = HasOwnExecutor;

    deadline_source_of(time_point deadline, executor_ref where, timer_service* timers) noexcept
        : deadline_(deadline), where_(where), timers_(timers) {}
    deadline_source_of(deadline_source_of&& other) noexcept
        : deadline_source_of(other.deadline_, other.where_, other.timers_) {}
    ~deadline_source_of() { disarm(); }

    [[nodiscard]] executor_ref executor_or(executor_ref promises) const noexcept { return where_ ? where_ : promises; }
    void arm(interrupt_call::function f, void* self, executor_ref where) noexcept {
        if (deadline_ == no_deadline) {
            return;
        }
        timer_service* service = timers_ != nullptr ? timers_ : where->timers();
        if (service == nullptr) {
            panic(where->name(), "", site(),
                  "it has no timers, so a wait on it cannot have a deadline: pass a timer service");
        }
        timer_.call = interrupt_call(f, self, claim::expired);
        timer_.set_deadline(deadline_);
        if (service->arm(timer_)) {
            armed_ = service;
        } else {
            timer_.call();  // the timers are closed: a wait that cannot complete at once expires
        }
    }
    void disarm() noexcept {
        if (timer_service* service = std::exchange(armed_, nullptr)) {
            service->disarm(timer_);
        }
    }

private:
    class calling_timer : public timer {
    public:
        calling_timer() noexcept : timer(+[](timer& t) noexcept { static_cast<calling_timer&>(t).call(); }) {}
        interrupt_call call;
    };

    time_point deadline_;
    executor_ref where_;
    timer_service* timers_;
    timer_service* armed_ = nullptr;
    calling_timer timer_;
};

}  // namespace roost::inline ROOST_ABI::detail
