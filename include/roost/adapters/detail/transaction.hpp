#pragma once

#include <roost/pool/pooled.hpp>

#include <type_traits>

// with_transaction() of the database adapters, for any connection type.

namespace roost::inline ROOST_ABI::detail {

// Runs fn(connection), a task, between the connection's begin() and commit(), and returns its result. If fn throws or is
// cancelled, or the commit fails, the handle stays distrusted: its connection is destroyed, which rolls back.
template <class Connection, class Fn>
[[nodiscard]] std::invoke_result_t<Fn&, Connection&> in_transaction(pooled<Connection>& on, Fn fn) {
    using promise = typename std::invoke_result_t<Fn&, Connection&>::promise_type;
    on.distrust();
    co_await on->begin();
    if constexpr (requires(promise& p) { p.return_void(); }) {
        co_await fn(*on);
        co_await on->commit();
        on.trust();
    } else {
        auto result = co_await fn(*on);
        co_await on->commit();
        on.trust();
        co_return result;
    }
}

}  // namespace roost::inline ROOST_ABI::detail
