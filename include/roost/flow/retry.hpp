#pragma once

// row r = co_await retry(backoff(50ms).jitter(0.5), 4, load_row, id);
//
// Calls fn(args...), a task, until it succeeds, at most `attempts` times, and waits for the backoff in between. If no
// attempt succeeds, throws the last failure with its own type. The earlier ones travel with it, at most the first hundred. A
// cancelled attempt is not repeated: the awaiting body ends cancelled. The arguments are copied, because each attempt passes
// them again. Ends the program if `attempts` is zero.
//
// The further failures of an attempt are kept with its failure. If a later attempt succeeds, all of them are dropped. If a
// cancel comes before the next attempt begins, the failures of the last attempt go to the failure sink.

#include <roost/base/error.hpp>
#include <roost/flow/backoff.hpp>
#include <roost/flow/detail/placed.hpp>
#include <roost/flow/detail/retry_attempts.hpp>

#include <concepts>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI {

// As retry(), only for failures for which `again(const std::exception_ptr&)` returns true. If `again` throws, there is no
// retry. The failure it was called with is thrown, and the exception from `again` travels with it.
template <class Again, class Fn, class... Args>
    requires std::predicate<Again&, const std::exception_ptr&>
[[nodiscard]] auto retry_if(Again again, detail::placed<backoff> wait, std::uint32_t attempts, Fn&& fn, Args&&... args) {
    using made = detail::called_again<std::decay_t<Fn>&, std::decay_t<Args>...>;
    static_assert(detail::task_or_waitable<made>,
                  "retry(backoff, attempts, fn, args...): fn(args...) has to return something that a task can await");
    if (attempts == 0) {
        detail::refuse_no_attempts(wait.site());
    }
    return detail::retry_task<detail::task_result_t<made>, Again, detail::callable_for<Fn>, std::decay_t<Args>...>(
        wait.site(), wait.value(), attempts, std::move(again), std::forward<Fn>(fn), std::forward<Args>(args)...);
}

template <class Fn, class... Args>
[[nodiscard]] auto retry(detail::placed<backoff> wait, std::uint32_t attempts, Fn&& fn, Args&&... args) {
    return retry_if(detail::always_again(), wait, attempts, std::forward<Fn>(fn), std::forward<Args>(args)...);
}

}  // namespace roost::inline ROOST_ABI
