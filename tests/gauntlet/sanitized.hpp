#pragma once

// Which sanitizer this test program was built with. As macros too, for code that must not exist under one.

#if defined(__has_feature)
#define ROOST_TEST_HAS(feature) __has_feature(feature)
#else
#define ROOST_TEST_HAS(feature) 0
#endif

#if defined(__SANITIZE_THREAD__) || ROOST_TEST_HAS(thread_sanitizer)
#define ROOST_TEST_TSAN 1
#else
#define ROOST_TEST_TSAN 0
#endif

#if defined(__SANITIZE_ADDRESS__) || ROOST_TEST_TSAN || ROOST_TEST_HAS(address_sanitizer)
#define ROOST_TEST_SANITIZED 1
#else
#define ROOST_TEST_SANITIZED 0
#endif

namespace gauntlet {

inline constexpr bool sanitized = ROOST_TEST_SANITIZED == 1;
inline constexpr bool under_tsan = ROOST_TEST_TSAN == 1;

}  // namespace gauntlet
