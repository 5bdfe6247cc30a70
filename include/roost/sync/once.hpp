#pragma once

// Something that is to be done exactly once, by whoever comes first; everybody else waits until it is done. If it fails, the
// next in line tries.
//
//   auto turn = co_await opened.enter();
//   if (turn.is_mine()) { open(); turn.done(); }      // a turn that is dropped without done() counts as failed
//
//   opened.call_blocking([] { open(); });             // for threads; an exception counts as failed and is passed on
//
// What happened before done() is seen by whoever passes.
//
// Resumes: on the coroutine's executor, or inside done() or the turn's destructor, on that thread, outside every lock.
// Cancelled: nothing else changes; a turn it had been given goes to the next. Destroy: when nobody waits; whoever passed may.
//
// id  operation              order            pairs     carries                             fails in
// O1  is_done: load          acquire          O2     the initialiser's writes                    once_model: publish
// O2  finish: store          release          O1 O3  out: what this turn wrote; only the lock's  once_model: publish
//                                                    holder changes a word that says running
// O3  try_enter: CAS         acquire/relaxed  O2     in: what failed turns wrote                 once_model: failed_turn_through_try_enter
// O4  enqueue: CAS           relaxed/relaxed  -      nothing: the lock orders it after O2
// O5  enqueue: load          relaxed          -      nothing: a guess for O4
// O6  cancel: store          relaxed          -      nothing: the list is empty again, and the word said running

#include <roost/base/literal.hpp>
#include <roost/base/time_limit.hpp>
#include <roost/sync/detail/once_state.hpp>
#include <roost/sync/detail/wait_list.hpp>
#include <roost/sync/detail/wait_operation.hpp>

#include <utility>

namespace roost::inline ROOST_ABI {

class once {
public:
    class turn;
    using operation = detail::wait_operation<once*>;

    constexpr explicit once(literal name = "") noexcept : name_(name.text()) {}
    ~once();

    [[nodiscard("it waits only when it is awaited: write co_await")]] operation enter() noexcept { return operation(this); }
    // Empty turn when somebody else is at it; ask is_done() to tell the cases apart.
    [[nodiscard]] turn try_enter() noexcept;
    [[nodiscard]] turn enter_blocking() noexcept;
    [[nodiscard]] turn enter_blocking(time_limit deadline) noexcept;  // not done and not mine: the deadline passed
    // Runs fn if nobody has yet. Returns when it has been done, by whomever.
    template <class Fn>
    void call_blocking(Fn&& fn) {
        static_cast<void>(call_blocking(std::forward<Fn>(fn), no_deadline));
    }
    // The same; false: the deadline passed while somebody else was at it. It does not interrupt fn.
    template <class Fn>
    [[nodiscard]] bool call_blocking(Fn&& fn, time_limit deadline);

    [[nodiscard]] bool is_done() const noexcept {
        return detail::once_state::unpack(word_.load(mo::acquire)).phase == detail::once_state::done;  // O1
    }
    [[nodiscard]] std::size_t waiters_now() const noexcept { return waiters_.size_approx(); }
    [[nodiscard]] const char* name() const noexcept { return name_; }

private:
    static constexpr const char* wait_call = "enter()";
    friend detail::wait_operation<once*>;
    template <class Source>
    friend bool detail::wait_in_thread(Source, time_point) noexcept;

    [[nodiscard]] bool try_pass() noexcept { return is_done(); }
    [[nodiscard]] bool try_start() noexcept;
    [[nodiscard]] bool enqueue(waiter& w) noexcept;
    [[nodiscard]] bool cancel(waiter& w, claim as) noexcept;
    void pass_on(waiter&) noexcept { finish(false); }
    [[nodiscard]] turn result(claim how) noexcept;
    // False: the deadline passed.
    [[nodiscard]] bool enter_until(time_point deadline, turn& mine) noexcept;
    [[nodiscard]] wait_target describe() const noexcept { return {"once", name_}; }
    void finish(bool succeeded) noexcept;

    atomic<std::uint32_t> word_{0};
    detail::wait_list waiters_;
    const char* name_;
};

// The right to be the one who does it, or nothing.
class [[nodiscard]] once::turn {
public:
    turn() noexcept = default;
    explicit turn(once& of) noexcept : once_(&of) {}
    turn(turn&& other) noexcept : once_(std::exchange(other.once_, nullptr)) {}
    turn& operator=(turn&& other) noexcept {
        turn moved(std::move(other));
        std::swap(once_, moved.once_);
        return *this;
    }
    ~turn() { end(false); }

    [[nodiscard]] bool is_mine() const noexcept { return once_ != nullptr; }
    void done() noexcept { end(true); }

private:
    void end(bool succeeded) noexcept {
        if (once* of = std::exchange(once_, nullptr)) {
            of->finish(succeeded);
        }
    }

    once* once_ = nullptr;
};

template <class Fn>
bool once::call_blocking(Fn&& fn, time_limit deadline) {
    turn mine;
    const bool in_time = enter_until(deadline, mine);
    if (mine.is_mine()) {
        std::forward<Fn>(fn)();
        mine.done();
    }
    return in_time;
}

}  // namespace roost::inline ROOST_ABI
