#pragma once

// How the library reaches into its mutexes and semaphores. Ships because templates need it; not API.

#include <roost/sync/detail/forward.hpp>

namespace roost::inline ROOST_ABI::detail {

// Owner: mutex, shared_mutex or semaphore.
struct sync_access {
    // True if there is one permit.
    template <class Owner>
    static constexpr bool is_exclusive = Owner::is_exclusive;
    // The call that takes permits, for messages.
    template <class Owner>
    static constexpr const char* take_call = Owner::take_call;

    template <class Owner>
    [[nodiscard]] static permits& permits_of(Owner& of) noexcept {
        return of.permits_;
    }
};

}  // namespace roost::inline ROOST_ABI::detail
