#pragma once

// Runs an initialisation exactly once. The first caller gets the turn; the others wait until it is done. If the turn fails,
// it goes to the next waiter.
//
//   auto turn = co_await opened.enter();
//   if (turn.is_mine()) { open(); turn.done(); }      // a turn destroyed without done() has failed
//
//   opened.call_blocking([] { open(); });             // for threads; an exception fails the turn and propagates
//
// done() happens-before every return from enter() that follows it.
//
// Resumes: on the coroutine's executor; without one, inside done() or ~turn() on that thread, outside every lock.
// Cancelled: a turn that was handed to the waiter goes to the next one; nothing else changes.
// Destroy: when no waiter is queued. A waiter that has passed may destroy it at once.
//
// id  operation              order            pairs     carries                             fails in
// O1  is_done: load          acquire          O2     the initialiser's writes                    once_model: publish
// O2  finish: store          release          O1 O3  out: what this turn wrote; only the lock's  once_model: publish
//                                                    holder changes the word while it is running
// O3  try_enter: CAS         acquire/relaxed  O2     in: what failed turns wrote                 once_model: failed_turn_through_try_enter
// O4  enqueue: CAS           relaxed/relaxed  -      nothing: the lock orders it after O2
// O5  enqueue: load          relaxed          -      nothing: a guess for O4
// O6  cancel: store          relaxed          -      nothing: the list is empty again, and the word was running

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
    // Returns an empty turn if it is done or another caller has the turn; is_done() distinguishes the two.
    [[nodiscard]] turn try_enter() noexcept;
    [[nodiscard]] turn enter_blocking() noexcept;
    // Returns the turn, or an empty one if it is done or the deadline passed. is_done() distinguishes the two.
    [[nodiscard]] turn enter_blocking(time_limit deadline) noexcept;
    // Runs fn if no caller has done so. Returns when it is done. If fn throws, the exception propagates and the turn failed.
    template <class Fn>
    void call_blocking(Fn&& fn) {
        static_cast<void>(call_blocking(std::forward<Fn>(fn), no_deadline));
    }
    // As above. Returns false if the deadline passed while another caller had the turn. Does not interrupt fn.
    template <class Fn>
    [[nodiscard]] bool call_blocking(Fn&& fn, time_limit deadline);

    [[nodiscard]] bool is_done() const noexcept {
        return detail::once_state::unpack(word_.load(seam::mo::acquire)).phase == detail::once_state::done;  // O1
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
    [[nodiscard]] bool enqueue(ext::waiter& w) noexcept;
    [[nodiscard]] bool cancel(ext::waiter& w, ext::claim as) noexcept;
    void pass_on(ext::waiter&) noexcept { finish(false); }
    [[nodiscard]] turn result(ext::claim how) noexcept;
    // Returns false if the deadline passed.
    [[nodiscard]] bool enter_until(time_point deadline, turn& mine) noexcept;
    [[nodiscard]] ext::wait_target describe() const noexcept { return {"once", name_}; }
    void finish(bool succeeded) noexcept;

    seam::atomic<std::uint32_t> word_{0};
    detail::wait_list waiters_;
    const char* name_;
};

// The right to run the initialisation, or nothing.
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
