#pragma once

#include <roost/pool/pooled.hpp>
#include <roost/sync/detail/wait_operation.hpp>

#include <new>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

// Turns what a waiter received into the result of its acquire.
template <class R>
[[nodiscard]] acquired<R> finish_acquire(pool_core& core, pool_waiter& w, const char* holder, site where) {
    slot_base* s = std::exchange(w.slot, nullptr);
    switch (std::exchange(w.given, gift::nothing)) {
        case gift::permit:
            w.slot = s;
            if (const int stripe = static_cast<int>(s->home->number); !core.creation().create_here(w)) {
                w.slot = nullptr;
                return acquired<R>(wait_status::failed,
                                   core.make_error(gift::failed, pool_error::step::create, stripe, std::move(w.cause)));
            }
            w.slot = nullptr;
            [[fallthrough]];
        case gift::resource: core.note_holder(*s, holder, where); return pool_access::acquired_of<R>(*s);
        case gift::stopped:
            return acquired<R>(wait_status::stopped,
                               core.make_error(gift::stopped, pool_error::step::acquire, pool_error::no_stripe, nullptr));
        case gift::closed:
            return acquired<R>(wait_status::closed,
                               core.make_error(gift::closed, pool_error::step::acquire, pool_error::no_stripe, nullptr));
        case gift::failed: {
            const int stripe = s == nullptr ? pool_error::no_stripe : static_cast<int>(s->home->number);
            return acquired<R>(wait_status::failed,
                               core.make_error(gift::failed, pool_error::step::create, stripe, std::move(w.cause)));
        }
        case gift::late: return acquired<R>(wait_status::failed, std::move(w.cause));
        case gift::nothing:
        case gift::unchecked: break;
    }
    return acquired<R>(wait_status::expired,
                       core.make_error(gift::nothing, pool_error::step::acquire, pool_error::no_stripe, nullptr));
}

// Takes a fit idle resource, or, with a synchronous create, the right to create one. Returns true if w received one. If it
// returns false with `unchecked`, enqueue() starts the check.
[[nodiscard]] inline bool try_pick(pool_core& core, pool_waiter& w, bool may_reserve) noexcept {
    while (slot_base* s = core.try_take()) {
        w.given = core.settings().examines ? core.upkeep().examine(*s) : gift::resource;
        if (w.given != gift::nothing) [[likely]] {
            w.slot = s;
            return w.given == gift::resource;
        }
    }
    if (may_reserve && !core.settings().creates_async) {
        if (slot_base* s = core.creation().try_reserve()) {
            w.given = gift::permit;
            w.slot = s;
            return true;
        }
    }
    return false;
}

// Blocks the thread until w receives something or the deadline passes. An unfit resource is being destroyed already, so the
// thread queues again.
inline void acquire_in_turn(pool_core& core, pool_waiter& w, time_point deadline) noexcept {
    const std::int64_t began = pool_meter::begin_wait();
    for (bool again = true; again;) {
        again = core.queue().acquire_in_thread(w, deadline) && w.given == gift::resource && core.settings().examines;
        if (again) {
            w.given = core.upkeep().examine(*w.slot);
            again = w.given != gift::resource;
            w.slot = w.given == gift::nothing ? nullptr : w.slot;
        }
    }
    core.meter().waited(began);
}

// co_await returns an acquired<R>. If it is cancelled it holds nothing; a resource handed to it goes to the next waiter.
template <class R>
class [[nodiscard("nothing is held until it is awaited: write co_await")]] acquire_operation {
public:
    acquire_operation(pool_core& core, const char* holder, site where) noexcept
        : core_(&core), holder_(holder), where_(where) {}
    // Requires that other has not been awaited.
    acquire_operation(acquire_operation&& other) noexcept
        : core_(other.core_), holder_(other.holder_), where_(other.where_) {
        ROOST_ASSERT(!other.has_node_, "an acquire cannot move once it is awaited");
        other.set_awaited();
    }
    ~acquire_operation() {
        if (has_node_) [[unlikely]] {
            abandon();
        } else if (ROOST_CHECKED != 0 && !is_awaited_) {
            never_awaited(waits_on(), "acquire()");
        }
    }

    [[nodiscard]] bool await_ready() noexcept {
        set_awaited();
        quick_ = core_->try_take_unexamined();
        return quick_ != nullptr || pick_slowly();
    }
    template <class Promise>
    ROOST_AWAIT_SUSPEND bool await_suspend(std::coroutine_handle<Promise> handle) noexcept {
        return start(resume_target::of(handle));
    }
    [[nodiscard]] acquired<R> await_resume() {
        if (quick_ != nullptr) [[likely]] {
            core_->note_holder(*quick_, holder_, where_);
            return pool_access::acquired_of<R>(*quick_);
        }
        node_.finish();
        core_->meter().waited(wait_began_);
        return finish_acquire<R>(*core_, node_, holder_, where_);
    }
    // Called by with_stop and with_deadline.
    [[nodiscard]] acquired<R> interrupted(claim how) noexcept {
        needed_node().finish();
        core_->meter().waited(wait_began_);
        if (how == claim::cancelled) {
            return acquired<R>(wait_status::cancelled);
        }
        return acquired<R>(wait_status::expired,
                           core_->make_error(gift::nothing, pool_error::step::acquire, pool_error::no_stripe, nullptr));
    }

    [[nodiscard]] bool start(const resume_target& target) noexcept {
        core_->note_wait(where_);
        needed_node().bind(target);
        // The pool may be destroyed and drained before a refused waiter runs.
        core_->retain();
        keeps_core_ = true;
        wait_began_ = pool_meter::begin_wait();
        for (;;) {
            if (core_->queue().enqueue(node_)) {
                return true;
            }
            if (node_.given != gift::resource || !core_->settings().examines) {
                return false;
            }
            node_.given = core_->upkeep().examine(*node_.slot);
            if (node_.given == gift::resource) {
                return false;
            }
            node_.slot = node_.given == gift::unchecked ? node_.slot : nullptr;
        }
    }
    bool try_cancel(claim as = claim::cancelled) noexcept { return core_->queue().cancel(node_, as); }
    void set_awaited() noexcept {
        if constexpr (ROOST_CHECKED != 0) {
            is_awaited_ = true;
        }
    }
    [[nodiscard]] waiter& node() noexcept { return needed_node(); }
    [[nodiscard]] wait_target waits_on() const noexcept { return core_->describe_wait(); }
    static constexpr bool takes_permits = true;
    // For another thread, once started: keeps the pool alive.
    [[nodiscard]] wait_subject subject() const noexcept {
        return {.of = core_,
                .need = 1,
                .total = pool_core::capacity_of(core_),
                .is_pending = !node_.is_claimed(),
                .owners = &pool_core::describe_owners};
    }

private:
    // Out of line, so that the quick path is in line.
    [[nodiscard, gnu::noinline]] bool pick_slowly() noexcept { return try_pick(*core_, needed_node(), true); }
    // Constructs the waiter on first use: most acquires need none.
    [[nodiscard]] pool_waiter& needed_node() noexcept {
        if (!has_node_) {
            ::new (static_cast<void*>(&node_)) pool_waiter;
            has_node_ = true;
        }
        return node_;
    }
    [[gnu::noinline]] void abandon() noexcept {
        if (!node_.is_started()) {
            if (node_.given == gift::unchecked) {  // destroyed before it waited
                core_->queue().check_aside(*node_.slot);
            }
        } else if (node_.state() == claim::delivered) {
            core_->pass_on(node_);
        } else if (node_.state() == claim::waiting && !try_cancel()) {
            destroyed_while_woken(waits_on());
        }
        node_.~pool_waiter();
        if (keeps_core_) {
            core_->release();
        }
    }

    pool_core* core_;
    const char* holder_;
    site where_;
    slot_base* quick_ = nullptr;  // taken by the fast path
    std::int64_t wait_began_ = 0;  // see pool_meter
    bool has_node_ = false;
    bool is_awaited_ = false;  // in checked builds
    bool keeps_core_ = false;  // true after start()
    union {
        pool_waiter node_;  // if has_node_; NOLINT(readability-identifier-naming): private, although in a union
    };
};

template <class T>
concept coroutine_type = requires { typename T::promise_type; };

// co_await with(fn) for a plain function: returns fn's result. Throws pool_error if no resource was acquired. If fn throws, the
// resource is destroyed.
template <class R, class Fn>
class [[nodiscard("nothing runs until it is awaited: write co_await")]] with_operation : private acquire_operation<R> {
    using base = acquire_operation<R>;

public:
    with_operation(pool_core& core, Fn fn, const char* holder, site where) : base(core, holder, where), fn_(std::move(fn)) {}
    using base::await_ready;
    using base::await_suspend;
    using base::node;
    using base::set_awaited;
    using base::start;
    using base::subject;
    using base::takes_permits;
    using base::try_cancel;
    using base::waits_on;
    std::invoke_result_t<Fn&, R&> await_resume() {
        pooled<R> held = base::await_resume().value();
        return run_with(held, fn_);
    }
    static std::invoke_result_t<Fn&, R&> run_with(pooled<R>& held, Fn& fn) {
        held.distrust();
        if constexpr (std::is_void_v<std::invoke_result_t<Fn&, R&>>) {
            fn(*held);
            held.trust();
        } else {
            decltype(auto) result = fn(*held);
            held.trust();
            return static_cast<std::invoke_result_t<Fn&, R&>>(result);
        }
    }

private:
    Fn fn_;
};

// For wait_operation: the wait for a closed pool to drain.
class drain_source {
public:
    explicit drain_source(pool_core& core) noexcept : core_(node_ref<pool_core>::share(core)) {}
    drain_source* operator->() noexcept { return this; }
    const drain_source* operator->() const noexcept { return this; }
    [[nodiscard]] bool try_pass() noexcept {
        core_->begin_close();
        return false;
    }
    [[nodiscard]] bool enqueue(waiter& w) noexcept { return core_->enqueue_closer(w); }
    [[nodiscard]] bool cancel(waiter& w, claim as) noexcept { return core_->cancel_closer(w, as); }
    void pass_on(waiter&) noexcept {}
    [[nodiscard]] wait_target describe() const noexcept { return core_->describe_wait(); }

private:
    node_ref<pool_core> core_;  // a deadline may come after the pool is destroyed and before the coroutine runs
};

}  // namespace roost::inline ROOST_ABI::detail
