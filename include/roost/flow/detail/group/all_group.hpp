#pragma once

// The groups behind when_all and when_all_settled: every child counts.

#include <roost/flow/detail/group/fork_call.hpp>
#include <roost/task/as_outcome.hpp>

#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

namespace roost::inline ROOST_ABI::detail {

extern const fork_rules all_rules;
extern const fork_rules settled_rules;

class all_group : public fork {
protected:
    template <class Kind>
    all_group(promise_base& me, Kind) noexcept : fork(me, all_rules) {}
    ~all_group() = default;
    [[nodiscard]] static node_name name() noexcept { return "when_all"; }
};

class settled_group : public fork {
protected:
    template <class Kind>
    settled_group(promise_base& me, Kind) noexcept : fork(me, settled_rules) {}
    ~settled_group() = default;
    [[nodiscard]] static node_name name() noexcept { return "when_all_settled"; }
};

template <class T>
[[nodiscard]] outcome<T> outcome_of(fork_slot_of<T, outcome_slot>& slot) {
    return slot.state() == ending::none ? outcome<T>() : outcome_from<T>(slot, slot.others);
}

template <class... T>
struct all_of {
    using group = all_group;
    using tasks = std::tuple<task<T>...>;
    using slots = fork_tuple<fork_slot, std::index_sequence_for<T...>, T...>;
    using result = std::tuple<kept_t<T>...>;
    template <class Group>
    [[nodiscard]] static result take(Group&, slots& from) {
        return take_each(from, std::index_sequence_for<T...>());
    }

private:
    template <std::size_t... I>
    [[nodiscard]] static result take_each(slots& from, std::index_sequence<I...>) {
        return result(from.template get<I>().take_kept()...);
    }
};
template <>
struct all_of<> {
    using group = all_group;
    using tasks = std::tuple<>;
    using slots = fork_tuple<fork_slot, std::index_sequence<>>;
    using result = std::tuple<>;
    template <class Group>
    [[nodiscard]] static result take(Group&, slots&) noexcept {
        return {};
    }
};

template <class T>
struct all_of_each {
    using group = all_group;
    using tasks = std::vector<task<T>>;
    using slots = fork_array<fork_slot, T>;
    using result = std::vector<kept_t<T>>;
    template <class Group>
    [[nodiscard]] static result take(Group&, slots& from) {
        result all;
        all.reserve(from.size());
        from.for_each([&](auto& slot) { all.push_back(slot.take_kept()); });
        return all;
    }
};

template <class... T>
struct settle_all {
    using group = settled_group;
    using tasks = std::tuple<task<T>...>;
    using slots = fork_tuple<outcome_slot, std::index_sequence_for<T...>, T...>;
    using result = std::tuple<outcome<T>...>;
    template <class Group>
    [[nodiscard]] static result take(Group&, slots& from) {
        return take_each(from, std::index_sequence_for<T...>());
    }

private:
    template <std::size_t... I>
    [[nodiscard]] static result take_each([[maybe_unused]] slots& from, std::index_sequence<I...>) {
        return result(outcome_of<T>(from.template get<I>())...);
    }
};

template <class T>
struct settle_each {
    using group = settled_group;
    using tasks = std::vector<task<T>>;
    using slots = fork_array<outcome_slot, T>;
    using result = std::vector<outcome<T>>;
    template <class Group>
    [[nodiscard]] static result take(Group&, slots& from) {
        result all;
        all.reserve(from.size());
        from.for_each([&](auto& slot) { all.push_back(outcome_of<T>(slot)); });
        return all;
    }
};

}  // namespace roost::inline ROOST_ABI::detail
