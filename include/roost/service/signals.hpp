#pragma once

#include <roost/base/config.hpp>

namespace roost::inline ROOST_ABI::service {

// First thing in main(): from here on SIGTERM, SIGINT, SIGHUP and SIGUSR1 are remembered, and run() acts on them as if they
// had come after its start. Without it, what comes before run() has its usual effect. A second call does nothing.
void remember_signals() noexcept;

// Gives them back to whoever had them. run() does that at its end.
void forget_signals() noexcept;

}  // namespace roost::inline ROOST_ABI::service
