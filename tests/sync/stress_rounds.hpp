#pragma once

// How often a hand-over races in a stress test: a million times in optimised builds without sanitizers.

#include <roost/base/atomic.hpp>

#if defined(__has_feature)
#define SYNC_TESTING_HAS_FEATURE(x) __has_feature(x)
#else
#define SYNC_TESTING_HAS_FEATURE(x) 0
#endif

namespace sync_testing {

#if defined(__OPTIMIZE__) && ROOST_SEAM_NATIVE && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !SYNC_TESTING_HAS_FEATURE(address_sanitizer) && !SYNC_TESTING_HAS_FEATURE(thread_sanitizer)
inline constexpr double full = 1'000'000;
#else
inline constexpr double full = 20'000;
#endif

}  // namespace sync_testing
