#pragma once

// The children of one supervise(), and the state that they share.

#include <roost/flow/on_failure.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/detail/frame/ready_await.hpp>
#include <roost/task/detail/job/policy_scope.hpp>
#include <roost/task/scope_options.hpp>
#include <roost/task/sleep.hpp>

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace roost::inline ROOST_ABI {
class supervisor;
}  // namespace roost::inline ROOST_ABI

namespace roost::inline ROOST_ABI::detail {

// State that the children of one supervise() share.
class supervision : public scope_policy {
public:
    static constexpr std::size_t failures_kept = 100;

    supervision(on_failure what, site where) noexcept : scope_policy(child_ended), what_(std::move(what)), where_(where) {}
    supervision(const supervision&) = delete;
    supervision& operator=(const supervision&) = delete;
    ~supervision();

    static constexpr std::size_t not_kept = failures_kept;

    // Records a failed attempt. Returns its index, or not_kept.
    [[nodiscard]] std::size_t record(std::string_view name, const std::exception_ptr& error, std::uint32_t attempt,
                                     const std::vector<std::exception_ptr>& others) noexcept;
    // Decides what to do about a failure. Returns true if the child is to be restarted after `wait`.
    [[nodiscard]] bool decide(scope_core& in, std::string_view name, const outcome<void>& ended, std::uint32_t attempt,
                              std::uint32_t& restarts, duration ran_for, duration& wait) noexcept;
    void started() noexcept;
    void restarted() noexcept;
    // Called if a cancel came before the restart that was to make the failure good.
    void not_restarted(std::size_t kept_as, std::string_view name, const outcome<void>& ended) noexcept;
    [[nodiscard]] supervised_counts counts() const noexcept;
    [[nodiscard]] std::vector<child_failure> take_failures() noexcept;

private:
    static void child_ended(scope_core& scope, job_core& child) noexcept;
    void report(std::string_view name, const std::exception_ptr& error,
                const std::vector<std::exception_ptr>& others) const noexcept;

    on_failure what_;
    site where_;  // of the supervise()
    mutable small_mutex lock_;
    supervised_counts counts_;
    std::vector<child_failure> failures_;
    std::bitset<failures_kept> not_restarted_;
};

// Reports the failure if the restart that was decided on does not come.
class pending_restart {
public:
    pending_restart(supervision& all, std::string_view name, const outcome<void>& last) noexcept
        : all_(&all), name_(name), last_(&last) {}
    pending_restart(const pending_restart&) = delete;
    pending_restart& operator=(const pending_restart&) = delete;
    ~pending_restart() {
        if (is_waiting_) {
            all_->not_restarted(kept_as_, name_, *last_);
        }
    }

    void wait_for(std::size_t kept_as) noexcept {
        kept_as_ = kept_as;
        is_waiting_ = true;
    }
    void begins() noexcept {
        if (std::exchange(is_waiting_, false)) {
            all_->restarted();
        }
    }
    // Called if the failure has been dealt with otherwise.
    void will_not_come() noexcept { is_waiting_ = false; }

private:
    supervision* all_;
    std::string_view name_;
    const outcome<void>* last_;
    std::size_t kept_as_ = supervision::not_kept;
    bool is_waiting_ = false;
};

template <class Fn>
constexpr void refuse_started_task() noexcept {
    static_assert(!is_task<Fn>,
                  "a supervised child may be restarted, and a task runs only once: pass the function and its arguments, "
                  "launch(name, fn, args...)");
}
// Ends the program if the options decide what a failure does.
void check_supervise_options(const scope_options& how) noexcept;
void report_body_failure(site where, const std::exception_ptr& error) noexcept;
void report_body_failures(site where, const std::vector<std::exception_ptr>& errors) noexcept;

class now_call {
public:
    now_call() noexcept = default;
    [[nodiscard]] ready_await<time_point> in_task(promise_base& me) const noexcept {
        timer_service* timers = me.get_executor()->timers();
        return ready_await<time_point>(timers == nullptr ? time_point() : timers->now());
    }
};

// The body of a supervised child: one attempt after the other, in one job.
template <class Fn, class... Args>
task<> supervised_child(supervision& all, scope_core& in, std::string name, Fn fn, Args... args) {
    std::uint32_t restarts = 0;
    outcome<void> last;
    pending_restart restart(all, name, last);
    for (std::uint32_t attempt = 1;; ++attempt) {
        const time_point began = co_await now_call();
        outcome<void> ended;
        try {
            task<> t = std::invoke(fn, args...);
            ended = co_await outcome_of_attempt<void, pending_restart>(std::move(t), restart);
        } catch (...) {
            restart.begins();
            ended = outcome<void>(std::current_exception());
        }
        if (ended.is_cancelled()) {
            co_await end_cancelled(ended.why());
        }
        if (ended.has_value()) {
            co_return;
        }
        last = std::move(ended);
        const time_point now = co_await now_call();
        duration wait{};
        const std::size_t kept_as = all.record(name, last.error(), attempt, last.others());
        const bool again = all.decide(in, name, last, attempt, restarts, now - began, wait);
        if (!again) {
            for (const std::exception_ptr& other : last.others()) {
                co_await carry_failure(last.error(), other);
            }
            std::rethrow_exception(last.error());
        }
        restart.wait_for(kept_as);
        std::exception_ptr no_wait;
        try {
            co_await pause_before_retry(wait);
        } catch (...) {
            no_wait = std::current_exception();
        }
        if (no_wait) {  // no memory for the wait: no decision was made about that
            restart.will_not_come();
            in.fail(no_wait);
            in.fail(last.error());
            std::rethrow_exception(no_wait);
        }
    }
}

template <class Fn, class... Args>
struct supervised_call {
    static constexpr bool is_callable = std::is_invocable_v<Fn&, supervisor&, Args...>;
    static_assert(
        is_callable,
        "supervise(on_failure, fn, args...): fn(supervisor&, args...) cannot be called with these arguments, which "
        "are passed as copies; for a parameter that is a reference write std::ref(x)");
    using made = task_of_call<is_callable, Fn&, supervisor&, Args...>;
    static_assert(is_task<made>, "supervise(on_failure, fn, args...): fn(supervisor&, args...) has to return a task");
};
template <class Fn, class... Args>
using supervised_value = typename supervised_call<Fn, Args...>::made::value_type;

}  // namespace roost::inline ROOST_ABI::detail
