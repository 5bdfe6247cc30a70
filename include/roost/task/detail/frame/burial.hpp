#pragma once

// Destroying frames that did not reach their end.
//
// A destructor that throws while its frame is destroyed does what the language makes of it: the exception goes to the frame's
// own handlers, then to its promise, and the frame comes to its end, or to its next await, as if it ran. So the code that
// destroys it has to keep it from passing control on, and to destroy it again there. What was thrown is cleanup that failed: it is
// kept beside the outcome of the job, or goes to the failure sink where there is no job.
//
// No await begins meanwhile. The region of the frame need not be cancelled, as when a deferred that it awaited was; that of a
// generator may be gone. So the frame is in a region of the thread's own, which is always cancelled: the grave.

#include <roost/task/detail/frame/promise_base.hpp>

#include <cstdint>

namespace roost::inline ROOST_ABI::detail {

// Installed in a link while its frame is destroyed: the end of the frame is left in runner::ended.
extern const link_ops burial_ops;

// One frame that is destroyed where it is suspended.
class burial {
public:
    // `in` is null for a generator outside of jobs.
    burial(promise_base& frame, await_link& link, detail::region* in) noexcept;
    burial(const burial&) = delete;
    burial& operator=(const burial&) = delete;
    ~burial();

    // Returns true if the frame came to its end instead of being destroyed where it was.
    [[nodiscard]] bool destroy() noexcept;

    // Where the frame was.
    [[nodiscard]] detail::region* region() const noexcept { return in_; }
    // What the link was before.
    [[nodiscard]] std::uintptr_t& before() noexcept { return before_; }

private:
    runner* here_;
    burial* outer_;
    promise_base* frame_;
    await_link* link_;
    detail::region* in_;
    std::uintptr_t before_;
};

// Whether a running frame is one that is destroyed: it caught what a destructor threw.
[[nodiscard]] inline bool is_buried(const promise_base& running) noexcept {
    const await_link& link = *running.link();
    return link.is_boundary() && &link.ops() == &burial_ops;
}
// The region that a running frame is in, for what does not suspend. Null: a generator that is destroyed outside of jobs.
[[nodiscard]] inline detail::region* where_now(const promise_base& running) noexcept {
    return is_buried(running) ? runner::of_this_thread().buried->region() : &running.region();
}

// Destroys a frame at its end.
void bury_ended(promise_base& frame) noexcept;
// Destroys a frame of `job` where it is suspended. Returns ending::cancelled; or ending::returned if a handler of the frame
// caught an exception of a destructor, and the frame then returned. Its value is in the link, as usual.
[[nodiscard]] ending bury_cancelled(promise_base& frame) noexcept;
// Destroys a generator's frame where it is suspended, in whatever job, or in none. Its locals may hold others, which hold others:
// uses constant stack.
void drop_suspended(promise_base& frame) noexcept;
// The same for a frame that was never started, and its arguments.
void drop_unstarted(promise_base& frame) noexcept;

}  // namespace roost::inline ROOST_ABI::detail
