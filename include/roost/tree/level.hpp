#pragma once

#include <roost/base/config.hpp>

#include <cstdint>
#include <string_view>

namespace roost::inline ROOST_ABI {

// How urgently a node has been asked to end. A level only rises, and reaches everything below the node.
enum class level : std::uint8_t {
    running = 0,  // no request
    stop = 1,     // take no new work; work under way may finish
    cancel = 2,   // end now: waits are withdrawn, bodies end at their next await
    abort = 3,    // as cancel, and no shield or ignore guard delays it
};

[[nodiscard]] constexpr std::string_view to_string(level l) noexcept {
    switch (l) {
        case level::running: return "running";
        case level::stop: return "stop";
        case level::cancel: return "cancel";
        case level::abort: return "abort";
    }
    return "unknown";
}

}  // namespace roost::inline ROOST_ABI
