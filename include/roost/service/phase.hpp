#pragma once

#include <roost/base/config.hpp>

#include <cstdint>
#include <string_view>

namespace roost::inline ROOST_ABI::service {

// The phases of a service, in this order. A service never returns to an earlier phase.
//
//   running      serves
//   lame_duck    no longer ready, still serves: load balancers stop sending before a request is refused
//   stop_intake  components of stage::intake are stopped: no new work arrives
//   drain        components of stage::work are stopped, one after the other, main last; work that has begun is finished
//   cancel       the remaining work is cancelled
//   abort        shielded work is cancelled too
//   release      components of stage::release are stopped: pools, connections, logs
//   exit         threads are joined
//   forced       after the third signal or the hard deadline: the tree is printed, and the process ends at once
enum class phase : std::uint8_t { running, lame_duck, stop_intake, drain, cancel, abort, release, exit, forced };
inline constexpr unsigned phase_count = 9;

[[nodiscard]] constexpr std::string_view to_string(phase p) noexcept {
    switch (p) {
        case phase::running: return "running";
        case phase::lame_duck: return "lame duck";
        case phase::stop_intake: return "stop intake";
        case phase::drain: return "drain";
        case phase::cancel: return "cancel";
        case phase::abort: return "abort";
        case phase::release: return "release";
        case phase::exit: return "exit";
        case phase::forced: return "forced";
    }
    return "unknown";
}

// What run() returns. If several apply, the first of: broken_invariant; main_failed or component_failed, whichever was
// first; work_cancelled; signal_base + n; the root task's own number; clean.
namespace exit_code {
inline constexpr int clean = 0;
inline constexpr int main_failed = 1;  // the root task ended with an error
inline constexpr int bad_options = 2;  // nothing was started; one logged sentence has the cause
inline constexpr int component_failed = 3;  // a job or hook of a component that is not optional ended with an error
inline constexpr int broken_invariant = 70;  // work was lost, or Roost found a bug
inline constexpr int work_cancelled = 124;  // the drain deadline passed, and work was cancelled
inline constexpr int signal_base = 128;  // 128 + n: signal n cancelled the work
}  // namespace exit_code

}  // namespace roost::inline ROOST_ABI::service
