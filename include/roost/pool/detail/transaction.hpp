#pragma once

#include <roost/pool/pooled.hpp>

#include <type_traits>

// What the database adapters' with_transaction() is, whatever the connection.

namespace roost::inline ROOST_ABI::detail {

// Runs fn(connection), a task, between the connection's begin() and commit(). When fn fails or is cancelled, or committing fails,
// the handle is left distrusted: its connection is destroyed instead of given back, which rolls back.
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
