#pragma once

// The common part of awaits that run a child frame behind a boundary and end with its result: timeouts, shields, scopes,
// until_stop, with_value, as_outcome. Each of them derives from one of these classes, names itself as Self, and keeps what
// differs:
//
//   await_suspend()   the checkpoint, the region that the child runs in, then begin(region); or unwind(), or skip()
//   next_step ended(ending how, reason& why)   called when the child has ended and its frame is destroyed: leaves the region
//   await_resume()    if the result of the await is not that of the child

#include <roost/task/detail/frame/burial.hpp>
#include <roost/task/detail/frame/give_way.hpp>
#include <roost/task/detail/frame/promise_base.hpp>
#include <roost/task/detail/job/region.hpp>

#include <coroutine>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

// A link that is a boundary: the end of the child calls ended() of the object that it is part of.
template <class Self, class T>
class boundary_link : public result_link<T> {
public:
    [[nodiscard]] static Self& of(await_link& link) noexcept {
        return static_cast<Self&>(static_cast<boundary_link&>(static_cast<result_link<T>&>(link)));
    }

protected:
    boundary_link() noexcept : result_link<T>(&ops) {}
    explicit boundary_link(const link_ops& other) noexcept : result_link<T>(&other) {}
    ~boundary_link() = default;

    // For a boundary in a frame of the same job, which shadows it.
    [[nodiscard]] promise_base* frame_above() const noexcept { return nullptr; }

    static next_step done(await_link& link, ending how, reason& why) noexcept { return of(link).ended(how, why); }

private:
    static promise_base* above(const link_ops& /*self*/, await_link& link) noexcept { return of(link).frame_above(); }
    static constexpr link_ops ops{done, above};
};

// Part of the awaiting frame, `me`.
template <class Self, class T, transfer Mode>
class boundary_base : protected boundary_link<Self, T> {
    friend class boundary_link<Self, T>;

public:
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    T await_resume() { return this->take(); }

protected:
    using suspended = typename transfer_to<Mode>::result;

    explicit boundary_base(promise_base& me) noexcept : me_(&me) {}
    boundary_base(promise_base& me, const link_ops& own) noexcept : boundary_link<Self, T>(own), me_(&me) {}
    ~boundary_base() = default;

    [[nodiscard]] promise_base& me() const noexcept { return *me_; }
    [[nodiscard]] promise_base* frame_above() const noexcept { return me_; }
    [[nodiscard]] bool is_cancelled() const noexcept { return me_->region().is_cancelled_relaxed(); }

    // For await_suspend.
    suspended unwind() noexcept {
        unwind_frame(*me_);
        return transfer_to<Mode>::none();
    }
    suspended start(promise_base& child) noexcept { return start_child<Mode>(*me_, child); }

    // For ended(): passes a cancellation on, with the child's reason.
    [[nodiscard]] next_step pass_on(ending how) noexcept {
        return how == ending::cancelled ? next_step::unwind(*me_) : next_step::resume(*me_);
    }
    // For ended(), if the frame's own region is cancelled: its reason counts.
    [[nodiscard]] next_step pass_on_own(reason& why) noexcept {
        why = me_->region().why();
        runner::of_this_thread().why = why;
        return next_step::unwind(*me_);
    }

private:
    promise_base* me_;
};

// With a child that exists before the await begins, and is dropped if it does not.
template <class Self, class T, transfer Mode>
class boundary_await : public boundary_base<Self, T, Mode> {
    using base = boundary_base<Self, T, Mode>;

protected:
    boundary_await(promise_base& me, promise_base& child) noexcept : base(me), child_(&child) {}
    boundary_await(promise_base& me, promise_base& child, const link_ops& own) noexcept : base(me, own), child_(&child) {}
    ~boundary_await() { drop_child(); }

    // Runs the child in `in`. From now on the loop owns its frame.
    typename base::suspended begin(region& in) noexcept {
        promise_base& child = *std::exchange(child_, nullptr);
        child.attach(*this, in);
        return this->start(child);
    }
    // Continues without the child.
    typename base::suspended skip() noexcept {
        drop_child();
        return this->start(this->me());
    }
    void drop_child() noexcept {
        if (promise_base* child = std::exchange(child_, nullptr)) {
            drop_unstarted(*child);
        }
    }

    promise_base* child_;
};

}  // namespace roost::inline ROOST_ABI::detail
