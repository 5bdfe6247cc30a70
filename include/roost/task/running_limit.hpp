#pragma once

// Moves the deadline of a fail_after or move_on_after that is running.
//
//   task<> receive(connection& c) {
//       const running_limit idle = co_await this_limit();     of the innermost fail_after or move_on_after around
//       for (;;) {
//           co_await c.read_some();
//           idle.set_remaining(5s);                            progress: five seconds from now on
//       }
//   }
//   co_await fail_after(5s, receive(c));
//
// A running_limit is a handle to the deadline. It is copyable and thread-safe, and may outlive the body. Moving the deadline
// moves one timer and allocates nothing. Outer deadlines do not change; the earliest of all counts. A deadline passes once.
// A move after it has passed, by the clock of its executor, returns false and changes nothing.

#include <roost/task/detail/forward.hpp>
#include <roost/task/detail/job/limit_region.hpp>
#include <roost/task/this_task.hpp>

#include <chrono>
#include <utility>

namespace roost::inline ROOST_ABI {

class running_limit {
public:
    // Refers to nothing: never passes and cannot be moved.
    running_limit() noexcept = default;
    explicit running_limit(detail::node_ref<detail::limit_region> region) noexcept : region_(std::move(region)) {}

    [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(region_); }

    // Each returns true if the deadline was moved: it had not passed, and the body had not ended. A move to a time in the
    // past cancels the body with the reason `timeout` before the call returns.
    bool move_to(time_point at) const noexcept { return move(detail::deadline_change::to(at)); }
    // Moves the deadline to now + d, by the clock of the executor.
    template <class Rep, class Period>
    bool set_remaining(std::chrono::duration<Rep, Period> d) const noexcept {
        return move(detail::deadline_change::in(detail::saturated(d)));
    }
    // Moves the deadline by d; to an earlier time if d is negative.
    template <class Rep, class Period>
    bool extend_by(std::chrono::duration<Rep, Period> d) const noexcept {
        return move(detail::deadline_change::by(detail::saturated(d)));
    }

    // Returns this limit's own deadline; after the body has ended, the last one. An outer deadline may be earlier:
    // this_token() returns the earliest of all.
    [[nodiscard]] time_point deadline() const noexcept { return region_ ? region_->own() : no_deadline; }
    // Returns the time until this limit's own deadline, by the clock of the executor. Zero if it has passed or the body has
    // ended; duration::max() without a deadline.
    [[nodiscard]] duration remaining() const noexcept { return region_ ? region_->remaining() : duration::max(); }
    // Returns true if the deadline passed while the body ran.
    [[nodiscard]] bool has_passed() const noexcept { return region_ && region_->has_passed(); }

    friend bool operator==(const running_limit&, const running_limit&) noexcept = default;

private:
    bool move(const detail::deadline_change& to) const noexcept { return region_ && region_->move(to); }

    detail::node_ref<detail::limit_region> region_;
};

// co_await this_limit(): returns the limit of the innermost fail_after or move_on_after around the calling code. It may
// belong to a job further up; a shield ends the search. Returns an empty handle if there is none. Never suspends.
[[nodiscard]] inline detail::this_limit_call this_limit() noexcept;

}  // namespace roost::inline ROOST_ABI

// The definitions.
#include <roost/task/detail/frame/this_limit_call.hpp>
