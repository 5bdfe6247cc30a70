#pragma once

#include <roost/base/site.hpp>
#include <roost/pool/options.hpp>

#include <cstdint>

namespace roost::inline ROOST_ABI::detail {

// Properties of the user's functions.
struct pool_kinds {
    bool creates_async = false;
    bool has_check = false;
    bool checks_async = false;
};

// The options of a pool, completed, and what follows from them. Constant after construction.
class pool_settings {
public:
    // Ends the program if the options contradict each other.
    pool_settings(pool_options asked, pool_kinds how, site made_at);

    // Reads the clock that the options name.
    [[nodiscard]] std::int64_t time_now() const noexcept;
    // Returns true if failed creations may suspend creating.
    [[nodiscard]] bool has_backoff() const noexcept { return options.backoff.after != 0; }

    pool_options options;
    bool creates_async;
    bool checks_async;
    bool examines;  // an idle resource must be examined before it is acquired
    bool has_upkeep;  // resources age: their times are noted
    bool tracks_ages;
};

}  // namespace roost::inline ROOST_ABI::detail
