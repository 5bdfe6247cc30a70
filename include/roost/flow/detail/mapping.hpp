#pragma once

// The items, results and workers of one map_concurrent().

#include <roost/base/atomic.hpp>
#include <roost/task/as_task.hpp>
#include <roost/task/detail/job/policy_scope.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace roost::inline ROOST_ABI::detail {

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

}  // namespace roost::inline ROOST_ABI::detail
