#pragma once

// on(closing_executor, task): the region that closing the executor cancels.

#include <roost/flow/closing_executor.hpp>
#include <roost/task/job_local.hpp>
#include <roost/task/on.hpp>
#include <roost/task/scope.hpp>
#include <roost/tree/callback.hpp>

namespace roost::inline ROOST_ABI {

namespace detail {

// Cancels a scope because the executor it depends on has closed.
class cancel_closed {
public:
    explicit cancel_closed(scope& s) noexcept : scope_(&task_access::core_of(s)) {}
    void operator()() const noexcept { scope_->node::cancel(reason::plain_kind(reason_kind::closed)); }

private:
    scope_core* scope_;
};

[[nodiscard]] task<> end_closed();

// Runs t in a region that carries the executor's address as a key. close() uses the key to find callers bound to the
// executor.
template <class T>
task<T> run_marked(closing_executor* where, task<T> t, site from) {
    co_return co_await on_call<T>(*where, std::move(t), from);
}

template <class T>
task<T> run_bound(scope& s, closing_executor* where, task<T> t, site from) {
    const lease bound = where->try_bind();
    if (!bound) {
        co_await end_closed();
    }
    const passing_callback<cancel_closed> closing(where->observe(), level::cancel, cancel_closed(s));
    co_return co_await value_call<T, bool>(where, true, run_marked<T>(where, std::move(t), from), from);
}

template <class T>
task<T> run_while_open(closing_executor* where, task<T> t, site from) {
    co_return co_await with_scope(run_bound<T>, where, std::move(t), from);
}

}  // namespace detail

template <class T>
task<T> on(closing_executor& where, task<T> t, std::source_location from) {
    return detail::run_while_open<T>(&where, std::move(t), from);
}

}  // namespace roost::inline ROOST_ABI
