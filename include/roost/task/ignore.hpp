#pragma once

// auto guard = co_await ignore_cancellation();
//
// While the guard lives, a cancel of the job has no effect in the job or on its children. Awaits work as usual, and
// is_active() returns true. Daemons of its scopes are not protected: they are cancelled at once. The cancel is recorded, and
// takes effect when the outermost guard is destroyed. Then it reaches the children, and the next await ends the job. If the
// job is already cancelled, this await ends it and makes no guard; shield() can be entered even then. Abort is not delayed.
// Requires that the guard is destroyed in the job that made it, before that job ends. Otherwise the program ends with a
// message that names the job.

#include <roost/task/detail/frame/ignore_await.hpp>
#include <roost/task/task.hpp>

#include <utility>

namespace roost::inline ROOST_ABI {

class [[nodiscard]] ignore_guard {
public:
    ignore_guard(ignore_guard&& other) noexcept : in_(std::exchange(other.in_, nullptr)) {}
    ignore_guard& operator=(ignore_guard&& other) noexcept {
        if (this != &other) {
            leave();
            in_ = std::exchange(other.in_, nullptr);
        }
        return *this;
    }
    ~ignore_guard() { leave(); }

    void leave() noexcept;

private:
    friend class detail::ignore_await;
    explicit ignore_guard(detail::region& in) noexcept : in_(&in) { in.retain(); }

    detail::region* in_;
};

inline ignore_guard detail::ignore_await::await_resume() const noexcept { return ignore_guard(me_->region()); }

[[nodiscard]] inline detail::ignore_call ignore_cancellation() noexcept { return {}; }

}  // namespace roost::inline ROOST_ABI
