#pragma once

// roost::testing::virtual_time, roost::testing::explore and the others, beside GoogleTest.
//
// With `using namespace roost`, `testing::Test` has to mean GoogleTest's, so `testing` may not name two namespaces. It names one:
// the global `testing`, with or without GoogleTest in it, which sees what Roost has in roost::testkit.

#include <roost/base/config.hpp>

namespace roost::inline ROOST_ABI::testkit {}

namespace testing {
using namespace ::roost::ROOST_ABI::testkit;  // NOLINT(google-build-using-namespace)
}

namespace roost::inline ROOST_ABI {
namespace testing = ::testing;
}
