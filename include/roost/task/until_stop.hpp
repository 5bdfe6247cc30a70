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

#include <roost/task/as_outcome.hpp>
#include <roost/task/detail/inner_region.hpp>

#include <functional>
#include <optional>
#include <variant>

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

template <class T>
using kept_result = std::conditional_t<
    std::is_void_v<T>, std::monostate,
    std::conditional_t<std::is_reference_v<T>, std::reference_wrapper<std::remove_reference_t<T>>, std::remove_cv_t<T>>>;

template <class T, transfer Mode>
class until_stop_await final : private result_link<T>, private stop_region {
public:
    until_stop_await(promise_base& me, promise_base& child, token watched, site where) noexcept
        : result_link<T>(&ops), me_(&me), child_(&child), watched_(std::move(watched)), where_(where) {}
    ~until_stop_await() { drop_child(); }

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    auto await_suspend(std::coroutine_handle<> self) -> typename transfer_to<Mode>::result {
        promise_base& me = *me_;
        if (!watched_.stop_requested() && !me.region().is_cancelled_relaxed()) [[likely]] {
            enter(me, watched_, where_);
            if (!watched_.stop_requested()) [[likely]] {
                promise_base& child = *std::exchange(child_, nullptr);
                child.attach(*this, inside());
                return start_child<Mode>(me, child);
            }
            leave();  // a node that stopped before the callback was registered does not call it
        }
        if (me.region().is_cancelled_relaxed()) {
            unwind_frame(me);
            return transfer_to<Mode>::none();
        }
        drop_child();
        stopped_ = true;
        static_cast<void>(self);
        return start_child<Mode>(me, me);
    }
    std::optional<kept_result<T>> await_resume() {
        if (stopped_) {
            return std::nullopt;
        }
        if constexpr (std::is_void_v<T>) {
            this->take();
            return std::monostate();
        } else {
            return std::optional<kept_result<T>>(std::in_place, this->take());
        }
    }

private:
    void drop_child() noexcept {
        if (promise_base* child = std::exchange(child_, nullptr)) {
            drop_unstarted(*child);
        }
    }
    static next_step done(await_link& link, ending how, reason& why) noexcept {
        auto& self = static_cast<until_stop_await&>(static_cast<result_link<T>&>(link));
        promise_base& me = *self.me_;
        self.stop_region::leave();
        if (how != ending::cancelled) {
            return next_step::resume(me);
        }
        if (me.region().is_cancelled_relaxed()) {
            why = me.region().why();
            runner::of_this_thread().why = why;
            return next_step::unwind(me);
        }
        if (!self.watched_.stop_requested()) {
            return next_step::unwind(me);  // the task cancelled itself
        }
        self.stopped_ = true;
        return next_step::resume(me);
    }
    static constexpr link_ops ops{done};

    promise_base* me_;
    promise_base* child_;
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
