#pragma once

// The clauses of a select, all with the same few operations:
//
//   bool poll()                      returns true if it could happen now, and has happened
//   bool start(target)               false: it has happened; true: queued, or decided elsewhere
//   void unlink()                    it lost: leaves its list, and no other thread touches it afterwards
//   const void* id()                 identifies it as the winner of the choice
//   take()                           returns what co_await on it would return
//
// Only waits whose loss leaves nothing behind are clauses. Arriving at a barrier or awaiting a task has effects and is no
// clause.

#include <roost/sync/auto_reset_event.hpp>
#include <roost/sync/channel.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/latch.hpp>
#include <roost/sync/semaphore.hpp>
#include <roost/task/deferred.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/sleep.hpp>

namespace roost::inline ROOST_ABI::detail {

// A wait of a higher layer says so itself.
template <class Op>
inline constexpr bool is_clause = false;
template <class Source>
    requires Source::is_clause
inline constexpr bool is_clause<wait_operation<Source>> = true;
template <>
inline constexpr bool is_clause<event::operation> = true;
template <>
inline constexpr bool is_clause<auto_reset_event::operation> = true;
template <>
inline constexpr bool is_clause<latch::operation> = true;
template <>
inline constexpr bool is_clause<job::join_awaiter> = true;
template <>
inline constexpr bool is_clause<owned_scope::join_awaiter> = true;
template <class Owner, class Result>
inline constexpr bool is_clause<permit_operation<Owner, Result>> = true;
template <class T>
inline constexpr bool is_clause<send_operation<T>> = true;
template <class T>
inline constexpr bool is_clause<receive_operation<T>> = true;

// The decision of one select, and the body that waits for it.
class select_core : public choice, public cancellable {
public:
    explicit select_core(promise_base& me) noexcept;
    [[nodiscard]] resume_target target() noexcept;
    // For clauses without a waiter: resumes as a wake does.
    void resume() noexcept { frame().resume_from_wait(); }
    // A clause can never happen because its timers are closed: the body ends.
    void timers_are_closed() noexcept { closed_ = true; }

protected:
    [[nodiscard]] bool ends_closed() noexcept { return closed_ && try_win(this); }
    ~select_core() = default;

private:
    static const wait_functions functions;
    bool closed_ = false;
};

// Constructs a clause in place.
template <class Op>
class clause_source {
public:
    clause_source(select_core& c, Op& o) noexcept : core(&c), op(&o) {}
    select_core* core;
    Op* op;
};

// A wait in a list of waiters.
template <class Op>
class wait_clause {
    static_assert(is_clause<Op>,
                  "select: a clause is a channel's receive or send, a wait for an event, latch, mutex or semaphore, a job's "
                  "or deferred's "
                  "join, a sleep, or readable() and writable(); tasks and other operations are for race()");

public:
    using result = decltype(std::declval<Op&>().await_resume());

    explicit wait_clause(clause_source<Op> from) noexcept : op_(std::move(*from.op)) {
        if constexpr (requires { op_.set_awaited(); }) {
            op_.set_awaited();
        }
    }

    void check(const promise_base& me) const { task_access::check(op_, me); }
    [[nodiscard]] bool poll() { return op_.await_ready(); }
    [[nodiscard]] bool start(select_core& all) noexcept {
        if (op_.start(all.target())) {
            return true;
        }
        // A clause that takes something won the choice before it took it. One that only observes has not decided yet.
        return all.winner() != id() && !all.try_win(id());
    }
    void unlink() noexcept {
        if (can_wait() && op_.node().is_started()) {
            static_cast<void>(op_.try_cancel());
            op_.node().finish();
        }
    }
    [[nodiscard]] const void* id() noexcept { return can_wait() ? static_cast<const void*>(&op_.node()) : this; }
    result take() { return op_.await_resume(); }

private:
    // An empty job has ended already.
    [[nodiscard]] bool can_wait() const noexcept {
        if constexpr (requires { op_.can_wait(); }) {
            return op_.can_wait();
        }
        return true;
    }

    Op op_;
};

// A clause that happens at a time.
class sleep_clause : private timer, private work {
public:
    using result = void;

    template <class Call>
    explicit sleep_clause(clause_source<Call> from) noexcept
        : sleep_clause(*from.core, from.op->until(from.core->frame())) {}

    void check(const promise_base&) const noexcept {}
    [[nodiscard]] bool poll() const noexcept;
    [[nodiscard]] bool start(select_core& all) noexcept;
    void unlink() noexcept;
    [[nodiscard]] const void* id() const noexcept { return this; }
    void take() noexcept { unlink(); }

private:
    sleep_clause(select_core& all, time_point until) noexcept;
    static void fired(timer& self) noexcept;
    static void run_woken(work& self) noexcept;

    select_core* all_;
    timer_service* service_;
    bool is_armed_ = false;
};

template <class Op>
struct clause_of {
    using type = wait_clause<Op>;
};
template <>
struct clause_of<sleep_for_call> {
    using type = sleep_clause;
};
template <>
struct clause_of<sleep_until_call> {
    using type = sleep_clause;
};

// Maps what was written as a clause: an operation to itself, a job or a deferred to its end.
template <class Clause>
inline constexpr bool is_deferred = false;
template <class T>
inline constexpr bool is_deferred<deferred<T>> = true;

class as_operation_call {
public:
    template <class Clause>
    [[nodiscard]] decltype(auto) operator()(Clause&& clause) const noexcept {
        using plain_clause = std::remove_cvref_t<Clause>;
        if constexpr (std::is_same_v<plain_clause, job>) {
            return clause.join();
        } else if constexpr (is_deferred<plain_clause>) {
            static_assert(std::is_lvalue_reference_v<Clause>,
                          "select: pass the deferred itself, not std::move of it; select does not take its result, so await "
                          "it afterwards");
            return clause.join();
        } else {
            return static_cast<plain_clause&&>(clause);
        }
    }
};
inline constexpr as_operation_call as_operation;

}  // namespace roost::inline ROOST_ABI::detail
