#pragma once

// A pool of resources that are expensive to create: connections, buffers, handles.
//
//   pool<connection> db(pool_options(10, "db"), [&] { return connect(host); });
//   auto c = co_await db.acquire();               // acquired<connection>: a handle, or a status and an error
//   if (c) c->query(...);                         // c returns the resource when it is destroyed
//
// create: () -> R, or () -> an awaitable for an R. May throw.
// destroy: (R&) -> void, or an awaitable.
// check: (R&) -> bool, or an awaitable for a bool. Called before an idle resource is acquired; true means usable.
// An awaitable is anything that a plain coroutine can co_await, or a task (include roost/task/driven.hpp).
//
// Fair: waiters are served first in, first out, across all stripes. A newcomer does not overtake a waiter. One exception:
// threads in acquire_blocking() may overtake a first waiter that is a parked thread, a bounded number of times.
//
// A synchronous create or check runs on the acquiring thread. The pool runs awaitable functions. Cancelling an acquire does
// not cancel a running creation; its resource is handed to the next waiter or becomes idle.
//
// Resumes: on the coroutine's executor; without one, inside the call that returns a resource, with no lock held.
// Cancelled: a resource already handed to a cancelled acquire goes to the next waiter.
// Stop: once the pool's node is stopped, acquires return status stopped.
// Destroy: closes the pool without waiting. Resources that are out are destroyed when they are returned.
// Thread-safe, except for moving and destroying the pool object. A call on a moved-from pool ends the program.

#include <roost/base/time_limit.hpp>
#include <roost/pool/detail/access.hpp>
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

template <class R>
class pool {
public:
    using operation = detail::acquire_operation<R>;
    using close_operation = detail::wait_operation<detail::drain_source>;

    // Creates the pool and its warm resources. Starts no thread. Throws std::bad_alloc, and pool_error if options.parent is
    // closed. Ends the program if the options contradict each other.
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

    // --- acquiring. `holder` names the holder in reports ---------------------------------------------------------------------
    // Returns an awaiter for acquired<R>. Takes an idle resource. If none is idle, creates one if there is room. Otherwise
    // waits.
    [[nodiscard("nothing is held until it is awaited: write co_await")]] operation acquire(
        site where = std::source_location::current()) noexcept {
        return operation(*live(), nullptr, where);
    }
    [[nodiscard("nothing is held until it is awaited: write co_await")]] operation acquire(
        literal holder, site where = std::source_location::current()) noexcept {
        return operation(*live(), holder.text(), where);
    }
    // Returns an idle resource, or status empty if none is idle or a waiter is queued. Never waits, never creates. A
    // resource that needs an awaitable check is not returned. Its check starts, and the resource stays in the pool for a
    // later acquire.
    [[nodiscard]] acquired<R> try_acquire(site where = std::source_location::current()) {
        return try_with_reserve(false, nullptr, where);
    }
    [[nodiscard]] acquired<R> try_acquire(literal holder, site where = std::source_location::current()) {
        return try_with_reserve(false, holder.text(), where);
    }
    // As try_acquire(), but creates a resource if there is room. With an awaitable create, it starts a creation for a later
    // acquire and returns empty. While creating is suspended (options.backoff), it returns failed with the last error.
    [[nodiscard]] acquired<R> try_acquire_or_create(site where = std::source_location::current()) {
        return try_with_reserve(true, nullptr, where);
    }
    [[nodiscard]] acquired<R> try_acquire_or_create(literal holder, site where = std::source_location::current()) {
        return try_with_reserve(true, holder.text(), where);
    }
    // As acquire(), blocking the thread. Returns status expired if the deadline passes first.
    [[nodiscard]] acquired<R> acquire_blocking(time_limit deadline = no_deadline,
                                               site where = std::source_location::current()) {
        return acquire_blocking("", deadline, where);
    }
    [[nodiscard]] acquired<R> acquire_blocking(literal holder, time_limit deadline = no_deadline,
                                               site where = std::source_location::current()) {
        if (detail::slot_base* s = live()->try_take_unexamined()) [[likely]] {
            live()->note_holder(*s, holder.text(), where);
            return detail::pool_access::acquired_of<R>(*s);
        }
        return acquire_slowly(holder.text(), deadline, where);
    }

    // Acquires a resource, calls fn(resource), and returns the resource to the pool. If fn throws or is cancelled, the
    // resource is destroyed instead. If fn is a coroutine, with() returns a coroutine of the same type. Otherwise it returns
    // an awaiter for fn's result. Throws pool_error if no resource was acquired.
    template <class Fn>
    [[nodiscard]] auto with(Fn fn, site where = std::source_location::current()) {
        return with("", std::move(fn), where);
    }
    template <class Fn>
    [[nodiscard]] auto with(literal holder, Fn fn, site where = std::source_location::current()) {
        using result = std::invoke_result_t<Fn&, R&>;
        if constexpr (detail::coroutine_type<result>) {
            return use<result>(acquire(holder, where), std::move(fn));
        } else {
            return detail::with_operation<R, Fn>(*live(), std::move(fn), holder.text(), where);
        }
    }
    // As with(), but only with an idle resource. Returns an empty optional if there is none. If fn returns void, returns
    // true if fn was called.
    template <class Fn>
    auto try_with(Fn fn, site where = std::source_location::current()) {
        return try_with("", std::move(fn), where);
    }
    template <class Fn>
    auto try_with(literal holder, Fn fn, site where = std::source_location::current()) {
        using result = std::invoke_result_t<Fn&, R&>;
        acquired<R> got = try_acquire(holder, where);
        if constexpr (detail::coroutine_type<result>) {
            return got ? std::optional<result>(use<result>(std::move(got).value(), std::move(fn))) : std::optional<result>();
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
    // Closes the pool when awaited: refuses acquires and destroys idle resources. Resumes when all resources are returned and
    // destroyed, and attempts past their limit have ended. The pool calls no user function after that. Cancelling the wait
    // leaves the pool closed.
    [[nodiscard]] close_operation close() noexcept { return close_operation(detail::drain_source(*live())); }
    // As close(), with a deadline. Requires an executor and timers in the options; without them the program ends. The result
    // has a value if the pool drained in time.
    [[nodiscard]] auto close(time_point deadline) noexcept {
        if (live()->options().timers == nullptr) {
            detail::panic("pool", live()->name(), live()->made_at(),
                          "close(deadline) needs options.where and options.timers");
        }
        return with_deadline(close(), deadline, *live()->options().where.get(), *live()->options().timers);
    }
    // As close(), blocking the thread. Returns true if the pool drained, false if the deadline passed first. Then holders() and
    // stats().late show what is left.
    [[nodiscard]] bool close_blocking(time_limit deadline = no_deadline) noexcept {
        return live()->close_in_thread(deadline);
    }

    // --- upkeep and facts --------------------------------------------------------------------------------------------------
    // Destroys the idle resources and returns their number. The pool stays open.
    std::uint32_t clear_idle() noexcept { return live()->clear_idle(); }
    // Sets the capacity, clamped to 1 .. options.room, and returns it. Idle resources beyond it are destroyed now, others when
    // they are returned.
    std::uint32_t resize(std::uint32_t capacity) noexcept { return live()->resize(capacity); }
    [[nodiscard]] pool_stats stats() const noexcept { return live()->stats(); }
    // Returns the holders of resources, the oldest first. Throws std::bad_alloc.
    [[nodiscard]] std::vector<observe::pool_holder> holders() const { return live()->holders(); }
    [[nodiscard]] std::string_view name() const noexcept { return live()->name(); }
    [[nodiscard]] std::uint32_t stripes() const noexcept { return live()->stripes().count(); }
    // Returns the tree node, for handles and reports.
    [[nodiscard]] node tree_node() const noexcept { return *live(); }
    [[deprecated("use tree_node()")]] [[nodiscard]] node as_node() const noexcept { return tree_node(); }

private:
    friend detail::pool_access;

    [[gnu::noinline]] acquired<R> acquire_slowly(const char* holder, time_limit deadline, site where) {
        detail::pool_waiter w;
        if (detail::try_pick(*live(), w, true)) {
            return detail::finish_acquire<R>(*live(), w, holder, where);
        }
        const auto core = detail::node_ref<detail::pool_core>::share(*live());  // the pool may be destroyed during the wait
        core->note_wait(where);
        detail::acquire_in_turn(*core, w, deadline);
        return detail::finish_acquire<R>(*core, w, holder, where);
    }
    [[nodiscard]] acquired<R> try_with_reserve(bool may_reserve, const char* holder, site where) {
        if (detail::slot_base* s = live()->try_take_unexamined()) [[likely]] {
            live()->note_holder(*s, holder, where);
            return detail::pool_access::acquired_of<R>(*s);
        }
        detail::pool_waiter w;
        if (detail::try_pick(*live(), w, may_reserve)) {
            return detail::finish_acquire<R>(*live(), w, holder, where);
        }
        if (w.given == detail::gift::unchecked) {
            live()->queue().check_aside(*std::exchange(w.slot, nullptr));
        }
        w.given = live()->refusal();
        if (w.given == detail::gift::nothing && may_reserve && live()->creation().is_suspended(w.cause)) {
            w.given = detail::gift::failed;
        }
        if (w.given != detail::gift::nothing) {
            return detail::finish_acquire<R>(*live(), w, holder, where);
        }
        if (may_reserve && live()->settings().creates_async) {
            live()->creation().create_one();
        }
        return acquired<R>(wait_status::empty);
    }
    // `from` is a handle, or the acquire of one.
    template <class Task, class From, class Fn>
    static Task use(From from, Fn fn) {
        pooled<R> held;
        if constexpr (std::is_same_v<From, operation>) {
            acquired<R> got = co_await std::move(from);
            held = std::move(got).value();
        } else {
            held = std::move(from);
        }
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
