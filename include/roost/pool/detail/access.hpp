#pragma once

// How the library and its tests reach into a pool. Not API.

#include <roost/pool/detail/pool_core.hpp>

namespace roost::inline ROOST_ABI {
template <class R>
class pool;
}

namespace roost::inline ROOST_ABI::detail {

struct pool_access {
    template <class R>
    [[nodiscard]] static pool_core& core_of(pool<R>& of) noexcept {
        return *of.live();
    }
};

}  // namespace roost::inline ROOST_ABI::detail
