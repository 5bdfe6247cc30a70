#pragma once

// A pool of resources that are expensive to make: connections, buffers, handles.
//
//   pool<connection> db(pool_options(10, "db"), [&] { return connect(host); });
//   auto c = co_await db.acquire();               // acquired<connection>: a handle, or why there is none
//   if (c) c->query(...);                         // goes back when c is destroyed
//
// create: () -> R, may throw; or () -> anything a plain coroutine can co_await for an R. destroy: (R&) -> void or awaitable.
// check: (R&) -> bool, or awaitable for one, asked before an idle resource is given out. Tasks are awaitable, too (then include
// roost/task/driven.hpp).
//
// Fair: whoever waits is served in order of arrival, whichever stripe has something; a newcomer never overtakes. What a
// cancelled acquire had been given goes to the next. Creating belongs to the pool: with an awaitable create, cancelling an
// acquire leaves the creation running, and its resource is kept.
//
// Resumes: on the coroutine's executor, or inside give_back() on that thread after every lock has been left.
// Cancelled: nothing is lost. Stop of the pool's node: acquires are refused with a value. Destroy: closes; resources that are
// still out are destroyed when they come back. A synchronous create runs in whoever acquires.

#include <roost/base/time_limit.hpp>
#include <roost/pool/detail/acquire_operation.hpp>
#include <roost/pool/detail/pool_core_of.hpp>
#include <roost/pool/options.hpp>
#include <roost/sync/interruptible.hpp>

#include <concepts>
#include <coroutine>
#include <optional>
#include <utility>
#include <vector>

namespace roost::inline ROOST_ABI {

namespace detail {
template <class T>
concept coroutine_type = requires { typename T::promise_type; };
struct just_destruct {
    template <class R>
    void operator()(R&) const noexcept {}
};
}  // namespace detail

template <class R>
class pool {
public:
    using operation = detail::acquire_operation<R>;
    using close_operation = detail::wait_operation<detail::drain_source>;

    template <class Create, class Destroy = detail::just_destruct, class Check = detail::no_check>
        requires std::invocable<Create&> && std::invocable<Destroy&, R&>
    explicit pool(pool_options options, Create create, Destroy destroy = {}, Check check = {},
                  site made_at = std::source_location::current())
        : core_(detail::pool_core_of<R, Create, Destroy, Check>::make(std::move(options), std::move(create),
                                                                      std::move(destroy), std::move(check), made_at)) {}
    pool(pool&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
    pool& operator=(pool&&) = delete;
    ~pool() {
        if (core_ != nullptr) {
            core_->begin_close();
            core_->release();
        }
    }

    // --- acquiring. `who` names the holder in reports ---------------------------------------------------------------------
    [[nodiscard("nothing is held until it is awaited: write co_await")]] operation acquire(
        site where = std::source_location::current()) noexcept {
        return operation(*live(), nullptr, where);
    }
    [[nodiscard("nothing is held until it is awaited: write co_await")]] operation acquire(
        literal who, site where = std::source_location::current()) noexcept {
        return operation(*live(), who.text(), where);
    }
    // An idle resource, unless somebody waits. Never waits, never creates. One that has to go through an awaitable check first
    // does so for whoever comes next.
    [[nodiscard]] acquired<R> try_acquire(site where = std::source_location::current()) {
        return try_with_reserve(false, nullptr, where);
    }
    [[nodiscard]] acquired<R> try_acquire(literal who, site where = std::source_location::current()) {
        return try_with_reserve(false, who.text(), where);
    }
    // Or a new one, when there is room. With an awaitable create: begins to create one for whoever comes next. While creating
    // is suspended (options.backoff): failed, with the last error.
    [[nodiscard]] acquired<R> try_acquire_or_create(site where = std::source_location::current()) {
        return try_with_reserve(true, nullptr, where);
    }
    [[nodiscard]] acquired<R> try_acquire_or_create(literal who, site where = std::source_location::current()) {
        return try_with_reserve(true, who.text(), where);
    }
    // For threads.
    [[nodiscard]] acquired<R> acquire_blocking(time_limit deadline = no_deadline,
                                               site where = std::source_location::current()) {
        return acquire_blocking("", deadline, where);
    }
    [[nodiscard]] acquired<R> acquire_blocking(literal who, time_limit deadline = no_deadline,
                                               site where = std::source_location::current()) {
        if (detail::slot_base* s = live()->try_take_unexamined()) [[likely]] {
            live()->note_holder(*s, who.text(), where);
            return acquired<R>(*s);
        }
        return acquire_slowly(who.text(), deadline, where);
    }

    // Acquires, runs fn(resource), gives back; when fn fails or is cancelled the resource is destroyed instead. A coroutine
    // fn makes this a coroutine of the same type; any other is called when the resource is there. Throws pool_error when
    // there is none.
    template <class Fn>
    [[nodiscard]] auto with(Fn fn, site where = std::source_location::current()) {
        return with("", std::move(fn), where);
    }
    template <class Fn>
    [[nodiscard]] auto with(literal who, Fn fn, site where = std::source_location::current()) {
        using result = std::invoke_result_t<Fn&, R&>;
        if constexpr (detail::coroutine_type<result>) {
            return use_in<result>(acquire(who, where), std::move(fn));
        } else {
            return detail::with_operation<R, Fn>(*live(), std::move(fn), who.text(), where);
        }
    }
    // The same with an idle resource only. Empty (false for a function without a result) when there is none.
    template <class Fn>
    auto try_with(Fn fn, site where = std::source_location::current()) {
        return try_with("", std::move(fn), where);
    }
    template <class Fn>
    auto try_with(literal who, Fn fn, site where = std::source_location::current()) {
        using result = std::invoke_result_t<Fn&, R&>;
        acquired<R> got = try_acquire(who, where);
        if constexpr (detail::coroutine_type<result>) {
            return got ? std::optional<result>(use_handle<result>(std::move(got).value(), std::move(fn)))
                       : std::optional<result>();
        } else if constexpr (std::is_void_v<result>) {
            if (got) {
                detail::with_operation<R, Fn>::run_with(got.handle(), fn);
            }
            return static_cast<bool>(got);
        } else {
            return got ? std::optional<result>(detail::with_operation<R, Fn>::run_with(got.handle(), fn))
                       : std::optional<result>();
        }
    }

    // --- closing -----------------------------------------------------------------------------------------------------------
    // Refuses from now on, destroys what is idle, and waits until everything out has come back and is destroyed, and attempts
    // past their limit have ended. From then on the pool calls no function of the user's. Giving up the wait leaves the pool closed.
    [[nodiscard]] close_operation close() noexcept { return close_operation(detail::drain_source(*live())); }
    // The same until a deadline, with the pool's own executor and timers; the result says whether it drained.
    [[nodiscard]] auto close(time_point deadline) noexcept {
        if (live()->options().timers == nullptr) {
            panic("pool", live()->name(), live()->made_at(), "close(deadline) needs options.where and options.timers");
        }
        return with_deadline(close(), deadline, *live()->options().where.get(), *live()->options().timers);
    }
    // For threads. False: the deadline passed; holders() and stats().late say what is in the way.
    [[nodiscard]] bool close_blocking(time_limit deadline = no_deadline) noexcept {
        return live()->close_in_thread(deadline);
    }

    // --- upkeep and facts --------------------------------------------------------------------------------------------------
    // Destroys what is idle now; the pool stays open. How many.
    std::uint32_t clear_idle() noexcept { return live()->clear_idle(); }
    // Changes the capacity, between 1 and options.room; says what it is now. Resources beyond it go when they come back.
    std::uint32_t resize(std::uint32_t capacity) noexcept { return live()->resize(capacity); }
    [[nodiscard]] pool_stats stats() const noexcept { return live()->stats(); }
    // Who has something out, the oldest first.
    [[nodiscard]] std::vector<pool_holder> holders() const { return live()->holders(); }
    [[nodiscard]] std::string_view name() const noexcept { return live()->name(); }
    [[nodiscard]] std::uint32_t stripes() const noexcept { return live()->stripes(); }
    [[nodiscard]] node& as_node() const noexcept { return *live(); }
    [[nodiscard]] detail::pool_core& core() noexcept { return *live(); }  // not API

private:
    [[gnu::noinline]] acquired<R> acquire_slowly(const char* who, time_limit deadline, site where) {
        detail::pool_waiter w;
        if (detail::try_pick(*live(), w, true)) {
            return detail::finish_acquire<R>(*live(), w, who, where);
        }
        const auto core = node_ref<detail::pool_core>::share(*live());  // the pool may be destroyed while the thread waits
        detail::acquire_in_turn(*core, w, deadline);
        return detail::finish_acquire<R>(*core, w, who, where);
    }
    [[nodiscard]] acquired<R> try_with_reserve(bool may_reserve, const char* who, site where) {
        if (detail::slot_base* s = live()->try_take_unexamined()) [[likely]] {
            live()->note_holder(*s, who, where);
            return acquired<R>(*s);
        }
        detail::pool_waiter w;
        if (detail::try_pick(*live(), w, may_reserve)) {
            return detail::finish_acquire<R>(*live(), w, who, where);
        }
        if (w.given == detail::gift::unchecked) {
            live()->check_aside(*std::exchange(w.slot, nullptr));
        }
        w.given = live()->refusal();
        if (w.given == detail::gift::nothing && may_reserve && live()->is_suspended(w.cause)) {
            w.given = detail::gift::failed;
        }
        if (w.given != detail::gift::nothing) {
            return detail::finish_acquire<R>(*live(), w, who, where);
        }
        if (may_reserve && live()->creates_async()) {
            live()->create_one();
        }
        return acquired<R>(pool_status::empty);
    }
    template <class Task, class Fn>
    static Task use_in(operation op, Fn fn) {
        acquired<R> got = co_await std::move(op);
        pooled<R> held = std::move(got).value();
        held.distrust();
        if constexpr (requires(typename Task::promise_type& p) { p.return_void(); }) {
            co_await fn(*held);
            held.trust();
        } else {
            auto&& result = co_await fn(*held);
            held.trust();
            co_return std::forward<decltype(result)>(result);
        }
    }
    template <class Task, class Fn>
    static Task use_handle(pooled<R> held, Fn fn) {
        held.distrust();
        if constexpr (requires(typename Task::promise_type& p) { p.return_void(); }) {
            co_await fn(*held);
            held.trust();
        } else {
            auto&& result = co_await fn(*held);
            held.trust();
            co_return std::forward<decltype(result)>(result);
        }
    }

    [[nodiscard]] detail::pool_core* live() const noexcept {
        if (core_ == nullptr) [[unlikely]] {
            detail::panic_moved_pool();
        }
        return core_;
    }

    detail::pool_core* core_;
};

}  // namespace roost::inline ROOST_ABI
