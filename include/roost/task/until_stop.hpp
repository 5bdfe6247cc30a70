#pragma once

// co_await until_stop(token, t): runs t until it ends or the token's node is asked to stop.
//
//   auto row = co_await until_stop(server.observe(), load(id));
//
// Returns a std::optional with the result of t. A stop cancels the task and waits for its end; the optional is then empty. If
// the stop is visible before the task begins, the task does not begin. A value or an error that is there at the same time
// wins. For a task<void> the optional holds std::monostate, for a reference a std::reference_wrapper. If the outer job is
// cancelled too, that wins over a stop: the awaiting body ends cancelled. `shutdown::interrupt(t)` does the same for a
// shutdown node. Anything else that only a task can await (sleeps, joins, selects) is accepted too, and costs a frame.

#include <roost/base/detail/result.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/detail/frame/boundary_await.hpp>
#include <roost/task/detail/job/inner_region.hpp>
#include <roost/tree/detail/passing_callback.hpp>

#include <optional>

namespace roost::inline ROOST_ABI {

namespace detail {

// A region that is cancelled when a node that is not its ancestor is asked to stop.
class stop_region {
public:
    ~stop_region() { ROOST_ASSERT(region_ == nullptr, "an interrupted task was destroyed inside its own body"); }

    // Throws std::bad_alloc.
    void enter(promise_base& from, const token& watched, site made_at);
    // Called when the body has ended. When it returns, no thread that raises the watched node is inside this object.
    void leave() noexcept;
    [[nodiscard]] region& inside() const noexcept { return *region_; }

private:
    class stop_came {
    public:
        explicit stop_came(stop_region& r) noexcept : region_(&r) {}
        void operator()() const noexcept;

    private:
        stop_region* region_;
    };

    inner_region* region_ = nullptr;
    std::optional<passing_callback<stop_came>> callback_;
};

template <class T, transfer Mode>
class until_stop_await final : public boundary_await<until_stop_await<T, Mode>, T, Mode>, private stop_region {
    using boundary = boundary_await<until_stop_await, T, Mode>;

public:
    until_stop_await(promise_base& me, promise_base& child, token watched, site where) noexcept
        : boundary(me, child), watched_(std::move(watched)), where_(where) {}

    auto await_suspend(std::coroutine_handle<>) -> typename boundary::suspended {
        if (!watched_.stop_requested() && !this->is_cancelled()) [[likely]] {
            enter(this->me(), watched_, where_);
            if (!watched_.stop_requested()) [[likely]] {
                return this->begin(inside());
            }
            leave();  // a node that stopped before the callback was registered does not call it
        }
        if (this->is_cancelled()) {
            return this->unwind();
        }
        stopped_ = true;
        return this->skip();
    }
    std::optional<kept_t<T>> await_resume() {
        if (stopped_) {
            return std::nullopt;
        }
        return made_of<std::optional<kept_t<T>>>::result([this]() -> T { return this->take(); }, std::in_place);
    }

private:
    friend class boundary_link<until_stop_await, T>;
    next_step ended(ending how, reason& why) noexcept {
        leave();
        if (how == ending::cancelled && this->is_cancelled()) {
            return this->pass_on_own(why);
        }
        if (how == ending::cancelled && watched_.stop_requested()) {
            stopped_ = true;
            return next_step::resume(this->me());
        }
        return this->pass_on(how);  // unwinds if the task cancelled itself
    }

    token watched_;
    site where_;
    bool stopped_ = false;
};

template <class T>
class [[nodiscard]] until_stop_call {
public:
    until_stop_call(token watched, task<T> t, site where) noexcept
        : task_(std::move(t)), watched_(std::move(watched)), where_(where) {}
    template <transfer Mode = this_transfer>
    [[nodiscard]] until_stop_await<T, Mode> in_task(promise_base& me) && {
        return until_stop_await<T, Mode>(me, task_.release_frame(), std::move(watched_), where_);
    }

private:
    task<T> task_;
    token watched_;
    site where_;
};

}  // namespace detail

template <class T>
[[nodiscard]] detail::until_stop_call<T> until_stop(token watched, task<T> t,
                                                    std::source_location where = std::source_location::current()) noexcept {
    return detail::until_stop_call<T>(std::move(watched), std::move(t), where);
}

template <class A>
    requires detail::awaits_in_task<A&&>
[[nodiscard]] auto until_stop(token watched, A what, std::source_location where = std::source_location::current()) {
    return until_stop(std::move(watched), as_task(std::move(what)), where);
}

}  // namespace roost::inline ROOST_ABI
