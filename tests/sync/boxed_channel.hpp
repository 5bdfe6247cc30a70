#pragma once

// Coroutines that send and receive values which can only be moved, and note what came of it.

#include <roost/sync/channel.hpp>

#include "coroutines.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace sync_testing {

using boxed = std::unique_ptr<int>;
inline boxed box(int i) { return std::make_unique<int>(i); }

inline fire receive_into(roost::channel<boxed>& c, std::vector<int>& log) {
    auto got = co_await c.receive();
    log.push_back(got ? **got : -1);
}

inline fire send_one(roost::channel<boxed>& c, int i, std::vector<roost::wait_status>& log) {
    auto result = co_await c.send(box(i));
    log.push_back(result.status());
    if (result.has_value()) {
        EXPECT_EQ(*result.take_back(), i);
    }
}

}  // namespace sync_testing
