#pragma once

// UNDER_TSAN: the program is built with ThreadSanitizer.

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN
#endif
#elif defined(__SANITIZE_THREAD__)
#define UNDER_TSAN
#endif
