#pragma once

#include <roost/base/config.hpp>

namespace roost::inline ROOST_ABI::service {

// Call it first in main(). From then on SIGTERM, SIGINT, SIGHUP and SIGUSR1 are recorded. run() handles them as if they had
// arrived after its start. Without it, signals that arrive before run() have their usual effect. A second call does nothing.
void remember_signals() noexcept;

// Restores the former handlers. run() calls it at its end.
void forget_signals() noexcept;

}  // namespace roost::inline ROOST_ABI::service
