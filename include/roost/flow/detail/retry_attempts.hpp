#pragma once

// The attempts of one retry(), and the failures that they leave.

#include <roost/base/site.hpp>
#include <roost/flow/backoff.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/as_task.hpp>
#include <roost/task/detail/job/policy_scope.hpp>
#include <roost/task/sleep.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <utility>
#include <vector>

namespace roost::inline ROOST_ABI::detail {

class always_again {
public:
    always_again() noexcept = default;
    bool operator()(const std::exception_ptr&) const noexcept { return true; }
};

[[noreturn]] void refuse_no_attempts(site where);

// The failures of the attempts so far. If there is no memory for one, it goes to the failure sink.
class failed_attempts {
public:
    static constexpr std::size_t failures_kept = 100;

    explicit failed_attempts(site where) noexcept : where_(where) {}
    failed_attempts(const failed_attempts&) = delete;
    failed_attempts& operator=(const failed_attempts&) = delete;
    // Sends the last failure to the failure sink if the next attempt has not begun.
    ~failed_attempts();

    // Called if an attempt has failed and another will follow.
    void add(const std::exception_ptr& error, const std::vector<std::exception_ptr>& others) noexcept;
    void begins() noexcept { is_waiting_ = false; }
    // Returns the failures of all attempts, in order, at most failures_kept of them.
    [[nodiscard]] std::vector<std::exception_ptr>& all() noexcept;

private:
    void keep_last() noexcept;

    site where_;  // of the retry
    std::vector<std::exception_ptr> earlier_;
    std::vector<std::exception_ptr> last_;  // of the last attempt
    bool is_waiting_ = false;
};

// Asks the predicate whether to retry. If it throws, there is no retry and the exception is stored in `thrown`.
template <class Again>
[[nodiscard]] bool ask_again(Again& again, const std::exception_ptr& error, std::exception_ptr& thrown) noexcept {
    try {
        return static_cast<bool>(again(error));
    } catch (...) {
        thrown = std::current_exception();
        return false;
    }
}

template <class T, class Again, class Fn, class... Args>
task<T> retry_task(site where, backoff wait, std::uint32_t attempts, Again again, Fn fn, Args... args) {
    failed_attempts earlier(where);
    for (std::uint32_t n = 1;; ++n) {
        outcome<T> ended;
        try {
            task<T> t = roost::as_task(std::invoke(fn, args...));
            ended = co_await outcome_of_attempt<T, failed_attempts>(std::move(t), earlier);
        } catch (...) {
            earlier.begins();
            ended = outcome<T>(std::current_exception());
        }
        if (ended.is_cancelled()) {
            co_await end_cancelled(ended.why());
        }
        if (ended.has_value()) {
            co_return std::move(ended).value();
        }
        std::exception_ptr asking;
        if (n >= attempts || !ask_again(again, ended.error(), asking)) {
            for (std::exception_ptr& e : earlier.all()) {
                co_await carry_failure(ended.error(), std::move(e));
            }
            for (const std::exception_ptr& e : ended.others()) {
                co_await carry_failure(ended.error(), e);
            }
            if (asking) {
                co_await carry_failure(ended.error(), std::move(asking));
            }
            std::rethrow_exception(ended.error());
        }
        earlier.add(ended.error(), ended.others());
        co_await pause_before_retry(wait.next(n));
    }
}

}  // namespace roost::inline ROOST_ABI::detail
