#pragma once

// How the library and its tests reach into a pool. Not API.

#include <roost/pool/detail/pool_core.hpp>

namespace roost::inline ROOST_ABI {
template <class R>
class pool;
template <class R>
class acquired;
}  // namespace roost::inline ROOST_ABI

namespace roost::inline ROOST_ABI::detail {

struct pool_access {
    template <class R>
    [[nodiscard]] static pool_core& core_of(pool<R>& of) noexcept {
        return *of.live();
    }
    // Returns the result for a slot that the caller has taken.
    template <class R>
    [[nodiscard]] static acquired<R> acquired_of(slot_base& s) noexcept {
        return acquired<R>(s);
    }
};

}  // namespace roost::inline ROOST_ABI::detail
