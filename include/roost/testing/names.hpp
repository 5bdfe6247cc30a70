#pragma once

// Makes roost::testing::virtual_time, roost::testing::explore and the others available beside GoogleTest.
//
// With `using namespace roost`, `testing::Test` has to be GoogleTest's, so `testing` must not name two namespaces. It names
// one: the global `testing`, with or without GoogleTest in it. Roost's names live in roost::testkit and are visible there.

#include <roost/base/config.hpp>

namespace roost::inline ROOST_ABI::testkit {}

namespace testing {
using namespace ::roost::ROOST_ABI::testkit;  // NOLINT(google-build-using-namespace)
}

namespace roost::inline ROOST_ABI {
namespace testing = ::testing;
}
