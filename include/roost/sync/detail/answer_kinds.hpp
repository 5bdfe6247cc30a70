#pragma once

// What the results of waits are called in messages: the Kind of detail::answer.

#include <roost/base/config.hpp>

namespace roost::inline ROOST_ABI::detail {

struct receive_kind {
    static constexpr const char* text = "channel receive";
};
struct broadcast_kind {
    static constexpr const char* text = "broadcast receive";
};
struct interruptible_kind {
    static constexpr const char* text = "interruptible wait";
};

}  // namespace roost::inline ROOST_ABI::detail
