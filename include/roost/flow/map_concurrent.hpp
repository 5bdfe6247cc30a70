#pragma once

// auto pages = co_await map_concurrent(urls, 8, fetch);
//
// Runs fn(item), a task, for every item, at most `limit` at a time. Returns the results in the order of the items. Fails
// fast like when_all: the first failure cancels the running tasks and is thrown. No further item is started. Returns an
// empty vector for an empty range. Ends the program if `limit` is zero. The items are moved or copied in. Each of `limit`
// workers takes the next item and calls fn with it, so the items are taken in order. fn is one object. On an executor with
// several threads its calls can overlap and begin in another order. On one thread they run one at a time, in the order of
// the items.

#include <roost/flow/detail/mapping.hpp>

#include <ranges>
#include <source_location>
#include <type_traits>
#include <utility>
#include <vector>

namespace roost::inline ROOST_ABI {

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
