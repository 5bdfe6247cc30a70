#pragma once

#include <roost/base/config.hpp>

namespace roost::inline ROOST_ABI::detail {

// While it lives, this thread does not report objects that are destroyed unused. Held while the library destroys the arguments
// and locals of a body that was cancelled or refused.
class quiet_drops {
public:
    quiet_drops() noexcept;
    quiet_drops(const quiet_drops&) = delete;
    quiet_drops& operator=(const quiet_drops&) = delete;
    ~quiet_drops();
};
// True while a quiet_drops of this thread lives or an exception unwinds its stack.
[[nodiscard]] bool drops_are_quiet() noexcept;

}  // namespace roost::inline ROOST_ABI::detail
