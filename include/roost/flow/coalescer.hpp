#pragma once

// Runs one computation per key at a time, and shares its result.
//
//   coalescer<std::string, page> pages(s);
//   page p = co_await pages.coalesce(url, fetch);
//
// While fn(key) runs, every coalesce() call with that key waits for its result. Such a caller is a getter. The first call
// after fn has ended starts fn again. The computations are children of the scope. Cancelling a getter affects neither the
// computation nor the other getters. A failure is thrown to every getter, and its further failures travel with it. If no
// getter receives it, it goes to the failure sink. If a computation ends cancelled, its getters end cancelled. The coalescer
// may be destroyed before its computations have ended. Thread-safe.
//
// One thread at a time compares keys; a getter that has to wait for it is suspended. No spin lock is held while a key is
// compared, copied or destroyed, so this may take long. An exception from a comparison is thrown to the getter that caused
// it.

#include <roost/flow/detail/coalescing.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/task.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <source_location>
#include <utility>

namespace roost::inline ROOST_ABI {

template <class Key, class T, class Less = std::less<Key>>
class coalescer {
    using calls = detail::coalescing<Key, T, Less>;

public:
    // The computations are children of the scope, with this name and site.
    explicit coalescer(scope& in, node_name name = "coalesced",
                       std::source_location made_at = std::source_location::current())
        : table_(std::make_shared<typename calls::table>(in, name, made_at)) {}
    coalescer(const coalescer&) = delete;
    coalescer& operator=(const coalescer&) = delete;

    // Returns the result for key. Calls fn(key), a task<T>, if no computation of this key is running.
    template <class Fn>
    [[nodiscard]] task<T> coalesce(Key key, Fn fn) {
        return calls::get(table_, std::move(key), std::move(fn));
    }
    // Returns the number of keys whose computation is running.
    [[nodiscard]] std::size_t size() const { return table_->size(); }

private:
    std::shared_ptr<typename calls::table> table_;
};

}  // namespace roost::inline ROOST_ABI
