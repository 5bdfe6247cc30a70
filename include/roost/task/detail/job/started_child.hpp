#pragma once

// A child that its caller waits for until it is ready: where the two meet, and the bodies of both.

#include <roost/base/atomic.hpp>
#include <roost/base/outcome.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/detail/job/policy_scope.hpp>
#include <roost/task/job.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/task.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace roost::inline ROOST_ABI {
template <class T>
class started;
}

namespace roost::inline ROOST_ABI::detail {

// Reports the failure of a child that was not ready, when its caller is gone.
void report_not_started(std::string_view name, site where, const std::exception_ptr& error,
                        const std::vector<std::exception_ptr>& others) noexcept;

// Where the child and the caller meet. The child may pass `started` on to another job, which calls it while the child ends: the
// first of the two writes `ended`, and then sets `settled`; the caller reads it after that.
//
// id  operation   order    why
// A1  claim: CAS  seq_cst  not weakened: once or twice per child; `settled` carries what the first one wrote
template <class T>
class start_meeting {
public:
    enum class end : std::uint8_t { none, ready, over };

    start_meeting(std::string name, site where) noexcept : name_(std::move(name)), where_(where) {}
    start_meeting(const start_meeting&) = delete;
    start_meeting& operator=(const start_meeting&) = delete;
    ~start_meeting() {
        if (ended.has_error() && !heard) {
            report_not_started(name_, where_, ended.error(), ended.others());
        }
    }

    // Returns what came first: `none` if this did. Then the caller of this writes `ended` and sets `settled`.
    [[nodiscard]] end claim(end by) noexcept {
        end before = end::none;
        static_cast<void>(first_.compare_exchange_strong(before, by, mo::seq_cst, mo::seq_cst));  // A1
        return before;
    }

    event settled{"start of a child"};
    outcome<T> ended;
    bool heard = false;  // the caller's

private:
    const std::string name_;  // of the child
    const site where_;
    atomic<end> first_{end::none};
};

[[noreturn]] void throw_not_started(std::string_view name, site where);
[[noreturn]] void throw_start_refused(std::string_view name, site where);
[[noreturn]] void refuse_second_start() noexcept;

// The child's side: however the child ends, the caller hears of it.
template <class T>
class start_duty {
    using meeting = start_meeting<T>;

public:
    explicit start_duty(std::shared_ptr<start_meeting<T>> at) noexcept : at_(std::move(at)) {}
    start_duty(start_duty&&) noexcept = default;
    start_duty& operator=(start_duty&&) = delete;
    ~start_duty() {
        if (at_ && at_->claim(meeting::end::over) == meeting::end::none) {
            at_->settled.set();
        }
    }
    // The child has failed. Returns false if it was ready before: then that is its scope's.
    template <class U>
    [[nodiscard]] bool give_to_caller(const outcome<U>& failed) const {
        if (at_->claim(meeting::end::over) != meeting::end::none) {
            return false;
        }
        at_->ended = outcome<T>(failed.error());
        add_others(at_->ended, failed.others());
        at_->settled.set();
        return true;
    }
    [[nodiscard]] const std::shared_ptr<meeting>& at() const noexcept { return at_; }

private:
    std::shared_ptr<start_meeting<T>> at_;
};

// The caller's side: a caller that goes before the child was ready takes it along.
class cancel_unstarted {
public:
    explicit cancel_unstarted(job child) noexcept : child_(std::move(child)) {}
    cancel_unstarted(const cancel_unstarted&) = delete;
    cancel_unstarted& operator=(const cancel_unstarted&) = delete;
    ~cancel_unstarted() { child_.cancel(reason::plain_kind(reason_kind::dropped)); }
    void let_go() noexcept { child_ = job(); }

private:
    job child_;
};

template <class T, class Fn, class... Args>
task<> started_child(start_duty<T> given, Fn fn, Args... args) {
    using value = typename std::invoke_result_t<Fn&, started<T>, Args...>::value_type;
    const start_duty<T> duty(std::move(given));
    outcome<value> ended;
    try {
        auto body = std::invoke(fn, started<T>(duty.at()), std::move(args)...);
        ended = co_await as_outcome(std::move(body));
    } catch (...) {
        ended = outcome<value>(std::current_exception());
    }
    if (ended.is_cancelled()) {
        co_await end_cancelled(ended.why());
    }
    if (ended.has_error() && !duty.give_to_caller(ended)) {
        for (const std::exception_ptr& other : ended.others()) {
            co_await carry_failure(ended.error(), other);
        }
        std::rethrow_exception(ended.error());
    }
}

template <class T, class Fn, class... Args>
task<T> start_and_wait(scope* s, std::string name, std::source_location where, Fn fn, Args... args) {
    auto at = std::make_shared<start_meeting<T>>(name, where);
    const job child = s->launch(name, started_child<T, Fn, Args...>(start_duty<T>(at), std::move(fn), std::move(args)...),
                                start::scheduled, where);
    if (!child) {
        throw_start_refused(name, where);
    }
    cancel_unstarted with_me(child);
    co_await at->settled.wait();
    with_me.let_go();
    at->heard = true;
    if (at->ended.has_error()) {
        for (const std::exception_ptr& other : at->ended.others()) {
            co_await carry_failure(at->ended.error(), other);
        }
    }
    if (at->ended.is_cancelled()) {
        throw_not_started(name, where);
    }
    co_return std::move(at->ended).value_or_throw();
}

}  // namespace roost::inline ROOST_ABI::detail
