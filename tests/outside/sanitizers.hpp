#pragma once

// UNDER_TSAN, UNDER_ASAN: the program is built with ThreadSanitizer, with AddressSanitizer.

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN
#endif
#if __has_feature(address_sanitizer)
#define UNDER_ASAN
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN
#endif
#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ASAN
#endif
