#pragma once

// auto pages = co_await map_concurrent(urls, 8, fetch);
//
// Runs fn(item), a task, for every item, at most `limit` at a time. Returns the results in the order of the items. Fails fast
// like when_all: the first failure cancels the running tasks, starts no more and is thrown. An empty range returns an empty
// vector. The items are moved or copied in. Each of `limit` workers takes the next item and calls fn with it, so the items
// are taken in their order. fn is one object: on an executor with several threads its calls can overlap and begin in another
// order. On one thread they come one at a time, in the order of the items.

#include <roost/base/atomic.hpp>
#include <roost/task/detail/job/policy_scope.hpp>

#include <algorithm>
#include <ranges>
#include <vector>

namespace roost::inline ROOST_ABI {

namespace detail {

[[noreturn]] void refuse_no_limit(site where);

// id  operation          order    pairs  carries                                               fails in
// P1  next: fetch_add    relaxed  -      nothing: every worker gets its own index              (floor)
template <class Item, class Fn, class T>
class mapping {
public:
    mapping(std::vector<Item> items, Fn fn) : fn_(std::move(fn)), items_(std::move(items)), slots(items_.size()) {}

    [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }
    // Returns the index of an item that no other worker has; size() or more if none is left.
    [[nodiscard]] std::size_t take() noexcept { return next_.fetch_add(1, mo::relaxed); }  // P1
    [[nodiscard]] task<T> start(std::size_t i) { return as_task(std::invoke(fn_, std::move(items_[i]))); }

private:
    Fn fn_;
    std::vector<Item> items_;
    atomic<std::size_t> next_{0};

public:
    std::vector<std::optional<kept_t<T>>> slots;
};

template <class Map, class T>
task<> map_worker(Map& map) {
    for (std::size_t i = map.take(); i < map.size(); i = map.take()) {
        co_await keep_result<T>(map.slots[i], map.start(i));
    }
}

template <class Map, class T>
task<> start_workers(scope& s, Map& map, std::size_t limit, std::vector<job>& jobs) {
    const std::size_t workers = std::min(limit, map.size());
    jobs.reserve(workers);
    for (std::size_t i = 0; i < workers; ++i) {
        jobs.push_back(launch_in(s, "mapper", map_worker<Map, T>(map)));
    }
    co_return;
}

template <class T, class Item, class Fn>
task<std::vector<kept_t<T>>> map_items(site where, std::vector<Item> items, std::size_t limit, Fn fn) {
    using map_type = mapping<Item, Fn, T>;
    map_type map(std::move(items), std::move(fn));
    std::vector<job> jobs;
    using start_function = task<> (*)(scope&, map_type&, std::size_t, std::vector<job>&);
    policy_scope<start_function, std::reference_wrapper<map_type>, std::size_t, std::reference_wrapper<std::vector<job>>>
        all(need_all_policy, "map_concurrent", where, &start_workers<map_type, T>, std::ref(map), limit, std::ref(jobs));
    co_await std::move(all);
    std::vector<kept_t<T>> values;
    values.reserve(map.slots.size());
    for (auto& slot : map.slots) {
        if (!slot) {
            co_await end_cancelled(first_cancellation(jobs));
        }
        values.push_back(std::move(*slot));
    }
    co_return values;
}

}  // namespace detail

template <std::ranges::input_range Range, class Fn>
[[nodiscard]] auto map_concurrent(Range&& range, std::size_t limit, Fn&& fn,
                                  std::source_location where = std::source_location::current()) {
    using item = std::ranges::range_value_t<Range>;
    using callable = detail::callable_for<Fn>;
    using made = std::invoke_result_t<callable&, item>;
    static_assert(detail::task_or_waitable<made>,
                  "map_concurrent(range, limit, fn): fn(item) has to return something that a task can await");
    if (limit == 0) {
        detail::refuse_no_limit(where);
    }
    std::vector<item> items;
    for (auto&& element : range) {
        if constexpr (std::is_lvalue_reference_v<Range>) {
            items.push_back(element);
        } else {
            items.push_back(std::move(element));
        }
    }
    return detail::map_items<detail::task_result_t<made>, item, callable>(where, std::move(items), limit,
                                                                          std::forward<Fn>(fn));
}

}  // namespace roost::inline ROOST_ABI
