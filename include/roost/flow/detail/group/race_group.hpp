#pragma once

// The groups behind race and first_success: one child decides.

#include <roost/base/atomic.hpp>
#include <roost/flow/detail/group/fork_call.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace roost::inline ROOST_ABI {
template <class T>
class winner;
}  // namespace roost::inline ROOST_ABI

namespace roost::inline ROOST_ABI::detail {

enum class race_kind : unsigned char { first_end, first_value };

[[noreturn]] void throw_empty_race(race_kind kind);
[[nodiscard]] inline node_name name_of(race_kind kind) noexcept {
    return kind == race_kind::first_end ? node_name("race") : node_name("first_success");
}

class race_slot : public outcome_slot {
public:
    using outcome_slot::outcome_slot;
    std::uint32_t failed_as = 0;  // the first to fail is 1
};

extern const fork_rules race_rules;

// The winner, and the order in which the others failed. The results stay in the slots.
//
// id  operation               order    pairs  carries                                               fails in
// R1  ended: CAS, fetch_add   relaxed  -      nothing but who was first: the scope's end orders it  (floor)
// R2  winner, failures: load  relaxed  -      as R1                                                 (floor)
class race_group : public fork {
public:
    [[nodiscard]] bool ended(race_slot& slot, ending how) noexcept;
    [[nodiscard]] next_step finish() noexcept;
    // Returns the index of the value that won. Throws if an error won, or if there is no winner.
    [[nodiscard]] std::size_t winner_or_throw();
    // Returns the failures of the others, in the order in which they failed, each followed by its further failures.
    [[nodiscard]] std::vector<std::exception_ptr> errors() const;

protected:
    template <class Kind>
    race_group(promise_base& me, Kind kind) noexcept : fork(me, race_rules), kind_(kind.kind) {}
    ~race_group() = default;
    [[nodiscard]] node_name name() const noexcept { return name_of(kind_); }

private:
    [[nodiscard]] fork_slot* winner() const noexcept;
    [[nodiscard]] std::vector<const race_slot*> failed_slots() const;

    race_kind kind_;
    atomic<std::uint32_t> winner_{0};  // index + 1
    atomic<std::uint32_t> failures_{0};
};

template <class... T>
struct common_result {
    using type = std::variant<kept_t<T>...>;
    static constexpr bool same = false;
};
template <class T, class... U>
    requires(std::is_same_v<T, U> && ...)
struct common_result<T, U...> {
    using type = kept_t<T>;
    static constexpr bool same = true;
};

template <class... T>
struct race_of {
    using value = typename common_result<T...>::type;
    using group = race_group;
    using tasks = std::tuple<task<T>...>;
    using slots = fork_tuple<race_slot, std::index_sequence_for<T...>, T...>;
    using result = winner<value>;
    template <class Group>
    [[nodiscard]] static result take(Group& from, slots& all) {
        const std::size_t index = from.winner_or_throw();
        return take_one<0>(index, all, from.errors());
    }
    race_kind kind;

private:
    template <std::size_t I>
    [[nodiscard]] static result take_one(std::size_t index, slots& all, std::vector<std::exception_ptr> others) {
        if constexpr (I + 1 < sizeof...(T)) {
            if (index != I) {
                return take_one<I + 1>(index, all, std::move(others));
            }
        }
        if constexpr (common_result<T...>::same) {
            return result(index, all.template get<I>().take_kept(), std::move(others));
        } else {
            return result(index, value(std::in_place_index<I>, all.template get<I>().take_kept()), std::move(others));
        }
    }
};

template <class T>
struct race_of_each {
    using group = race_group;
    using tasks = std::vector<task<T>>;
    using slots = fork_array<race_slot, T>;
    using result = winner<kept_t<T>>;
    template <class Group>
    [[nodiscard]] static result take(Group& from, slots& all) {
        const std::size_t index = from.winner_or_throw();
        return result(index, all.at(index).take_kept(), from.errors());
    }
    race_kind kind;
};

}  // namespace roost::inline ROOST_ABI::detail
