#pragma once

// Waits for several clauses; exactly one of them happens.
//
//   auto got = co_await select(orders.receive(), stop.wait(), sleep_for(1s));
//   switch (got.index()) {
//       case 0: handle(got.get<0>());  break;      the result of co_await orders.receive()
//       case 1: co_return;
//       case 2: flush();
//   }
//
// Clauses:
//   a channel: receive(), send(v), send_from(v)             a signal_watch: receive()
//   an event, auto_reset_event or latch: wait()             a mutex or semaphore: lock(), lock_shared(), acquire()
//   a job or a deferred itself; join() of an owned_scope    sleep_for(), sleep_until()
//   a descriptor or stream: readable(), writable()
// A value passed to send() is lost if another clause happens; send_from(v) keeps it. The clause of a deferred is its end.
// After that it can be awaited at once. A task is no clause, because it has effects: use race().
//
// The other clauses take nothing: no value, permit or signal is taken and put back. When select returns, none of them is
// queued anywhere. Cancelling the waiting job removes every clause. If several clauses can happen at once, the leftmost does;
// select(fair, ...) begins at a random one. Two selects can meet at an unbuffered channel. select() without clauses does not
// compile.

#include <roost/base/detail/result.hpp>
#include <roost/flow/detail/fair.hpp>
#include <roost/flow/detail/select_await.hpp>

#include <cstddef>
#include <utility>
#include <variant>

namespace roost::inline ROOST_ABI {

// Begins at a random clause instead of the leftmost.
inline constexpr detail::fair_t fair{0};

// Thrown by get<I>() of a clause that did not happen.
class wrong_clause : public std::bad_variant_access {
public:
    wrong_clause(std::size_t asked, std::size_t happened) noexcept;
    [[nodiscard]] const char* what() const noexcept override { return text_; }

private:
    char text_[112];
};

// The clause that happened, and its result.
template <class... R>
class [[nodiscard]] selected {
public:
    template <std::size_t I, class... Args>
    explicit selected(std::in_place_index_t<I> at, Args&&... args) : value_(at, std::forward<Args>(args)...) {}

    [[nodiscard]] std::size_t index() const noexcept { return value_.index(); }
    // Returns the result of clause I. Throws wrong_clause if another clause happened.
    template <std::size_t I>
    [[nodiscard]] auto& get() & {
        check<I>();
        return std::get<I>(value_);
    }
    template <std::size_t I>
    [[nodiscard]] auto get() && {
        check<I>();
        return std::get<I>(std::move(value_));
    }

private:
    template <std::size_t I>
    void check() const {
        static_assert(I < sizeof...(R), "selected::get<I>(): this select has fewer clauses");
        if (value_.index() != I) [[unlikely]] {
            throw wrong_clause(I, value_.index());
        }
    }

    std::variant<detail::kept_t<R>...> value_;
};

template <class... Clause>
[[nodiscard]] auto select(Clause&&... clauses) {
    return detail::select_call<detail::operation_of<Clause>...>(false,
                                                                detail::as_operation(std::forward<Clause>(clauses))...);
}
template <class... Clause>
[[nodiscard]] auto select(detail::fair_t, Clause&&... clauses) {
    return detail::select_call<detail::operation_of<Clause>...>(true,
                                                                detail::as_operation(std::forward<Clause>(clauses))...);
}

}  // namespace roost::inline ROOST_ABI
