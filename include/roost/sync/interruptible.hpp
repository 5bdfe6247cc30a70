#pragma once

// Lets any Roost wait end early, for any coroutine type.
//
//   auto held = co_await with_stop(m.lock(), token);              ends, cancelled, when stop is requested on a std::stop_token
//   auto held = co_await with_deadline(m.lock(), deadline);       ends at the deadline
//   if (held) use(*held); else if (held.status() == wait_status::expired) ...
//
// Exactly one of wake, stop and deadline claims the wait. A loser changes nothing: a lock, permit or value goes to the next
// waiter. An interrupted send returns its value. A wait that can complete at once does so, even after stop or the deadline.
//
// Neither stop nor a timer resumes anything inline. Both post the coroutine to an executor: the promise's, or the one passed
// here. A coroutine type without get_executor() does not compile unless an executor is passed; inline_executor is allowed.
// Timers come from that executor, or are passed here. with_stop and with_deadline can be nested.

#include <roost/base/atomic.hpp>
#include <roost/exec/timer.hpp>
#include <roost/sync/detail/answer_kinds.hpp>
#include <roost/sync/detail/interrupt_source.hpp>
#include <roost/sync/detail/interruptible.hpp>
#include <roost/sync/detail/wait_operation.hpp>
#include <roost/sync/wait_status.hpp>

#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>
#include <variant>

namespace roost::inline ROOST_ABI {

namespace ext {

// The result of an interruptible wait: the wait's own result, or wait_status::cancelled or expired.
template <class T>
class [[nodiscard]] interrupted_or : public detail::answer<T, detail::interruptible_kind> {
    using base = detail::answer<T, detail::interruptible_kind>;

public:
    explicit interrupted_or(claim why) noexcept : base(detail::status_of(why)) {}
    template <class... Args>
    explicit interrupted_or(std::in_place_t, Args&&... args) : base(std::in_place, std::forward<Args>(args)...) {}
};

}  // namespace ext

// Ends the wait as cancelled when stop is requested on `token`. Pass an executor if the coroutine's promise has none.
template <class Operation>
[[nodiscard]] auto with_stop(Operation operation, std::stop_token token) noexcept {
    using source = detail::stop_source_of<false>;
    return detail::interruptible<Operation, source>(std::move(operation), source(std::move(token), {}));
}
template <class Operation>
[[nodiscard]] auto with_stop(Operation operation, std::stop_token token, executor_ref where) noexcept {
    using source = detail::stop_source_of<true>;
    return detail::interruptible<Operation, source>(std::move(operation), source(std::move(token), where));
}

// Ends the wait as expired at `deadline`. Uses the executor's timers unless `timers` is passed. Ends the program if there
// are no timers.
template <class Operation>
[[nodiscard]] auto with_deadline(Operation operation, time_point deadline) noexcept {
    using source = detail::deadline_source_of<false>;
    return detail::interruptible<Operation, source>(std::move(operation), source(deadline, {}, nullptr));
}
template <class Operation>
[[nodiscard]] auto with_deadline(Operation operation, time_point deadline, executor_ref where) noexcept {
    using source = detail::deadline_source_of<true>;
    return detail::interruptible<Operation, source>(std::move(operation), source(deadline, where, nullptr));
}
template <class Operation>
[[nodiscard]] auto with_deadline(Operation operation, time_point deadline, executor_ref where,
                                 ext::timer_service& timers) noexcept {
    using source = detail::deadline_source_of<true>;
    return detail::interruptible<Operation, source>(std::move(operation), source(deadline, where, &timers));
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
