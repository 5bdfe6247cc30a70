#pragma once

// Moving the deadline of a fail_after or move_on_after that is running.
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
// A handle to the deadline: copied freely, used from any thread, kept as long as one likes. One timer is moved; nothing is
// allocated. Deadlines further out stay as they are, and the least of all counts. A deadline passes once: moving one that
// has passed, by the clock of its executor, returns false, and the body is cancelled as it would have been without the call.

#include <roost/task/checkpoint.hpp>
#include <roost/task/detail/limit_region.hpp>

namespace roost::inline ROOST_ABI {

class running_limit {
public:
    // Of nothing: never passes, and cannot be moved.
    running_limit() noexcept = default;
    explicit running_limit(node_ref<detail::limit_region> region) noexcept : region_(std::move(region)) {}

    [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(region_); }

    // Each returns true if the deadline was moved: it had not passed, and the body was still inside. Moved to a time that has
    // passed, the body is cancelled with the reason `timeout` before the call returns.
    bool move_to(time_point at) const noexcept { return move(deadline_change::to(at)); }
    // So much from now on, by the clock of the executor.
    template <class Rep, class Period>
    bool set_remaining(std::chrono::duration<Rep, Period> d) const noexcept {
        return move(deadline_change::in(detail::saturated(d)));
    }
    // So much later than before; earlier, if d is negative.
    template <class Rep, class Period>
    bool extend_by(std::chrono::duration<Rep, Period> d) const noexcept {
        return move(deadline_change::by(detail::saturated(d)));
    }

    // Its own: one further out may come earlier (this_token() tells the least). The last one when the body is out.
    [[nodiscard]] time_point deadline() const noexcept { return region_ ? region_->own() : no_deadline; }
    // Until its own deadline, by the clock of the executor; zero when that has passed or the body is out; duration::max()
    // without one.
    [[nodiscard]] duration remaining() const noexcept { return region_ ? region_->remaining() : duration::max(); }
    // Whether it has passed while the body was inside.
    [[nodiscard]] bool has_passed() const noexcept { return region_ && region_->has_passed(); }

    friend bool operator==(const running_limit&, const running_limit&) noexcept = default;

private:
    bool move(const deadline_change& to) const noexcept { return region_ && region_->move(to); }

    node_ref<detail::limit_region> region_;
};

namespace detail {

class this_limit_call {
public:
    this_limit_call() noexcept = default;
    [[nodiscard]] ready_await<running_limit> in_task(promise_base& me) const noexcept {
        region* const in = where_now(me);
        limit_region* found = in == nullptr ? nullptr : limit_region::around(*in);
        return ready_await<running_limit>(found == nullptr ? running_limit()
                                                           : running_limit(node_ref<limit_region>::share(*found)));
    }
};

}  // namespace detail

// The limit of the innermost fail_after or move_on_after around the calling code, in its job or further up, as far as it
// reaches: up to the nearest shield. Of nothing if there is none. Never suspends.
[[nodiscard]] inline detail::this_limit_call this_limit() noexcept { return {}; }

}  // namespace roost::inline ROOST_ABI
