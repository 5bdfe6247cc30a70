#pragma once

// Which compiler may build Roost, and which back end of the seam this translation unit uses.
//
// Everything is in `namespace roost::inline ROOST_ABI`. Each back end has its own name. So objects built for different back
// ends fail to link, and do not silently break the one-definition rule.

#if __cplusplus < 202002L
#error "Roost needs C++20: compile with -std=c++20 or newer"
#endif

#if defined(__clang__)
#if __clang_major__ < 16
#error "Roost needs clang 16 or newer: older ones cache thread-locals across co_await (see docs/compilers.md)"
#endif
#elif defined(__GNUC__)
#if __GNUC__ < 12
#error "Roost needs g++ 12 or newer"
#endif
#else
#error "Roost is tested with g++ and clang only"
#endif

#if defined(ROOST_SEAM_MODEL)
#define ROOST_ABI v0_model
#elif defined(ROOST_SEAM_JITTER)
#define ROOST_ABI v0_jitter
#else
#define ROOST_SEAM_NATIVE 1
#define ROOST_ABI v0
#endif

// Checks that cost run time are on unless NDEBUG is defined; in models they are always on.
#if !defined(ROOST_CHECKED)
#if defined(NDEBUG) && !defined(ROOST_SEAM_MODEL)
#define ROOST_CHECKED 0
#else
#define ROOST_CHECKED 1
#endif
#endif

#if defined(__SANITIZE_ADDRESS__)
#define ROOST_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ROOST_ASAN 1
#endif
#endif
#if !defined(ROOST_ASAN)
#define ROOST_ASAN 0
#endif

#include <roost/base/detail/namespaces.hpp>
