#pragma once

// What co_await select(...) waits with: all clauses in the awaiting frame.

#include <roost/flow/detail/select_clause.hpp>

#include <coroutine>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI {
template <class... R>
class selected;
}  // namespace roost::inline ROOST_ABI

namespace roost::inline ROOST_ABI::detail {

template <class Clauses>
class select_await;

// Op...: the types of the clauses as they were written.
template <class... Op>
class select_await<std::tuple<Op...>> final : private select_core {
    static constexpr std::size_t count = sizeof...(Op);
    using clauses = std::tuple<typename clause_of<Op>::type...>;
    using indices = std::index_sequence_for<Op...>;

public:
    using result = selected<typename clause_of<Op>::type::result...>;

    select_await(promise_base& me, std::tuple<Op...>& ops, std::size_t first) : select_await(me, ops, first, indices()) {}
    ~select_await() {
        if (winner_ == count) {
            for_each([this](std::size_t, auto& c) {
                if (this->winner() != c.id()) {  // a winner that never resumed passes on what it was handed
                    c.unlink();
                }
                return false;
            });
        }
    }

    [[nodiscard]] bool await_ready() {
        const bool ready = !frame().region().is_cancelled_relaxed() && for_each([this](std::size_t i, auto& c) {
            const bool now = c.poll();
            winner_ = now ? i : winner_;
            return now;
        });
        return ready && may_go_on(frame());
    }
    ROOST_AWAIT_SUSPEND bool await_suspend(std::coroutine_handle<>) noexcept {
        promise_base& me = frame();
        region& in = me.region();
        if (winner_ != count) [[unlikely]] {
            return give_way(me);
        }
        if (in.is_cancelled_relaxed()) [[unlikely]] {
            unwind_frame(me);
            return true;
        }
        suspended_ = true;
        const bool at_once = for_each([this](std::size_t i, auto& c) {
            const bool now = !is_won() && !c.start(*this);
            winner_ = now ? i : winner_;
            return now;
        });
        if (at_once) {
            suspended_ = false;
            return false;
        }
        if (ends_closed()) [[unlikely]] {
            unwind_frame(me, reason::plain_kind(reason_kind::closed));
        } else if (in.commit(*this)) [[unlikely]] {
            unwind_frame(me);
        }
        return true;
    }
    result await_resume() {
        if (suspended_) {
            frame().region().disarm(*this);
        }
        for_each([this](std::size_t i, auto& c) {
            if (winner_ == count && this->winner() == c.id()) {
                winner_ = i;
            }
            if (winner_ != i) {
                c.unlink();
            }
            return false;
        });
        return take<0>();
    }

private:
    template <std::size_t... I>
    select_await(promise_base& me, std::tuple<Op...>& ops, std::size_t first, std::index_sequence<I...>)
        : select_core(me), clauses_(clause_source<Op>(*this, std::get<I>(ops))...), first_(first) {
        (std::get<I>(clauses_).check(me), ...);
    }

    // Calls fn for each clause, from the first one on, wrapping around, until fn returns true.
    template <class Fn>
    bool for_each(Fn fn) {
        return from(first_, count, fn) || from(0, first_, fn);
    }
    template <class Fn>
    bool from(std::size_t begin, std::size_t end, Fn& fn) {
        return with_indices(begin, end, fn, indices());
    }
    template <class Fn, std::size_t... I>
    bool with_indices(std::size_t begin, std::size_t end, Fn& fn, std::index_sequence<I...>) {
        return ((I >= begin && I < end && fn(I, std::get<I>(clauses_))) || ...);
    }
    template <std::size_t I>
    result take() {
        if constexpr (I + 1 < count) {
            if (winner_ != I) {
                return take<I + 1>();
            }
        }
        auto& clause = std::get<I>(clauses_);
        return made_of<result>::result([&clause]() -> decltype(auto) { return clause.take(); }, std::in_place_index<I>);
    }

    clauses clauses_;
    std::size_t first_;
    std::size_t winner_ = count;
    bool suspended_ = false;
};

template <class... Op>
class [[nodiscard("it waits only when it is awaited: write co_await")]] select_call : public task_only {
    static_assert(sizeof...(Op) > 0, "select() without clauses would never end; pass at least one");

public:
    select_call(bool is_fair, Op... ops) : ops_(std::move(ops)...), fair_(is_fair) {}
    [[nodiscard]] select_await<std::tuple<Op...>> in_task(promise_base& me) && {
        return select_await<std::tuple<Op...>>(me, ops_, fair_ ? random_u64() % sizeof...(Op) : 0);
    }

private:
    std::tuple<Op...> ops_;
    bool fair_;
};

template <class Clause>
using operation_of = std::remove_cvref_t<decltype(as_operation(std::declval<Clause>()))>;

}  // namespace roost::inline ROOST_ABI::detail
