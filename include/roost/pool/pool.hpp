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

    // --- acquiring. `who` names the holder in reports; it has to outlive the loan (a literal) --------------------------------
    [[nodiscard]] operation acquire(site where = std::source_location::current()) noexcept {
        return operation(*core_, nullptr, where);
    }
    [[nodiscard]] operation acquire(const char* who, site where = std::source_location::current()) noexcept {
        return operation(*core_, who, where);
    }
    // An idle resource, unless somebody waits. Never waits, never creates. One that has to go through an awaitable check first
    // does so for whoever comes next.
    [[nodiscard]] acquired<R> try_acquire(site where = std::source_location::current()) {
        return try_with_reserve(false, nullptr, where);
    }
    [[nodiscard]] acquired<R> try_acquire(const char* who, site where = std::source_location::current()) {
        return try_with_reserve(false, who, where);
    }
    // Or a new one, when there is room. With an awaitable create: begins to create one for whoever comes next. While creating
    // is suspended (options.backoff): failed, with the last error.
    [[nodiscard]] acquired<R> try_acquire_or_create(site where = std::source_location::current()) {
        return try_with_reserve(true, nullptr, where);
    }
    [[nodiscard]] acquired<R> try_acquire_or_create(const char* who, site where = std::source_location::current()) {
        return try_with_reserve(true, who, where);
    }
    // For threads.
    [[nodiscard]] acquired<R> acquire_blocking(time_point deadline = no_deadline,
                                               site where = std::source_location::current()) {
        return acquire_blocking(nullptr, deadline, where);
    }
    [[nodiscard]] acquired<R> acquire_blocking(const char* who, time_point deadline = no_deadline,
                                               site where = std::source_location::current()) {
        if (detail::slot_base* s = core_->try_take_unexamined()) [[likely]] {
            core_->note_holder(*s, who, where);
            return acquired<R>(*s);
        }
        return acquire_slowly(who, deadline, where);
    }

    // Acquires, runs fn(resource), gives back; when fn fails or is cancelled the resource is destroyed instead. A coroutine
    // fn makes this a coroutine of the same type; any other is called when the resource is there. Throws pool_error when
    // there is none.
    template <class Fn>
    [[nodiscard]] auto with(Fn fn, site where = std::source_location::current()) {
        return with(nullptr, std::move(fn), where);
    }
    template <class Fn>
    [[nodiscard]] auto with(const char* who, Fn fn, site where = std::source_location::current()) {
        using result = std::invoke_result_t<Fn&, R&>;
        if constexpr (detail::coroutine_type<result>) {
            return use_in<result>(acquire(who, where), std::move(fn));
        } else {
            return detail::with_operation<R, Fn>(*core_, std::move(fn), who, where);
        }
    }
    // The same with an idle resource only. Empty (false for a function without a result) when there is none.
    template <class Fn>
    auto try_with(Fn fn, site where = std::source_location::current()) {
        return try_with(nullptr, std::move(fn), where);
    }
    template <class Fn>
    auto try_with(const char* who, Fn fn, site where = std::source_location::current()) {
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
    // Refuses from now on, destroys what is idle, and waits until everything out has come back and is destroyed. Giving up
    // the wait leaves the pool closed.
    [[nodiscard]] close_operation close() noexcept { return close_operation(detail::drain_source(*core_)); }
    // The same until a deadline, with the pool's own executor and timers; the result says whether it drained.
    [[nodiscard]] auto close(time_point deadline) noexcept {
        if (core_->options().timers == nullptr) {
            panic("pool", core_->name(), core_->made_at(), "close(deadline) needs options.where and options.timers");
        }
        return with_deadline(close(), deadline, *core_->options().where.get(), *core_->options().timers);
    }
    // For threads. False: the deadline passed; holders() says who is in the way.
    [[nodiscard]] bool close_blocking(time_point deadline = no_deadline) noexcept {
        return core_->close_in_thread(deadline);
    }

    // --- upkeep and facts --------------------------------------------------------------------------------------------------
    // Destroys what is idle now; the pool stays open. How many.
    std::uint32_t clear_idle() noexcept { return core_->clear_idle(); }
    // Changes the capacity, between 1 and options.room; says what it is now. Resources beyond it go when they come back.
    std::uint32_t resize(std::uint32_t capacity) noexcept { return core_->resize(capacity); }
    [[nodiscard]] pool_stats stats() const noexcept { return core_->stats(); }
    // Who has something out, the oldest first.
    [[nodiscard]] std::vector<pool_holder> holders() const { return core_->holders(); }
    [[nodiscard]] std::string_view name() const noexcept { return core_->name(); }
    [[nodiscard]] std::uint32_t stripes() const noexcept { return core_->stripes(); }
    [[nodiscard]] node& as_node() const noexcept { return *core_; }
    [[nodiscard]] detail::pool_core& core() noexcept { return *core_; }  // not API

private:
    [[gnu::noinline]] acquired<R> acquire_slowly(const char* who, time_point deadline, site where) {
        detail::pool_waiter w;
        if (detail::try_pick(*core_, w, true)) {
            return detail::finish_acquire<R>(*core_, w, who, where);
        }
        const auto core = node_ref<detail::pool_core>::share(*core_);  // the pool may be destroyed while the thread waits
        detail::acquire_in_turn(*core, w, deadline);
        return detail::finish_acquire<R>(*core, w, who, where);
    }
    [[nodiscard]] acquired<R> try_with_reserve(bool may_reserve, const char* who, site where) {
        if (detail::slot_base* s = core_->try_take_unexamined()) [[likely]] {
            core_->note_holder(*s, who, where);
            return acquired<R>(*s);
        }
        detail::pool_waiter w;
        if (detail::try_pick(*core_, w, may_reserve)) {
            return detail::finish_acquire<R>(*core_, w, who, where);
        }
        if (w.given == detail::gift::unchecked) {
            core_->check_aside(*std::exchange(w.slot, nullptr));
        }
        w.given = core_->refusal();
        if (w.given == detail::gift::nothing && may_reserve && core_->is_suspended(w.cause)) {
            w.given = detail::gift::failed;
        }
        if (w.given != detail::gift::nothing) {
            return detail::finish_acquire<R>(*core_, w, who, where);
        }
        if (may_reserve && core_->creates_async()) {
            core_->create_one();
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

    detail::pool_core* core_;
};

}  // namespace roost::inline ROOST_ABI
