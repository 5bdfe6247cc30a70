#include <roost/runtime/detail/fork_check.hpp>

#include <roost/base/assert.hpp>

#include <algorithm>
#include <cstdio>

#include <pthread.h>
#include <sys/prctl.h>

namespace roost::inline ROOST_ABI::detail {

std::uint32_t forks_seen = 0;

fork_check::fork_check() noexcept : made_under_(forks_seen) {
    static const int registered = pthread_atfork(nullptr, nullptr, +[] { ++forks_seen; });
    static_cast<void>(registered);
}

void fork_check::fail(std::string_view object, std::string_view name) noexcept {
    panic(object, name, site(),
          "used in a forked child, but its threads exist only in the parent; a child may exec(), _exit() or make its own "
          "runtime");
}

void name_this_thread(std::string_view name, unsigned number) noexcept {
#if !defined(ROOST_SEAM_MODEL)
    // The kernel keeps fifteen characters. Does not allocate: a failure could not be reported from here.
    char tail[12];
    const auto tail_size = static_cast<std::size_t>(std::snprintf(tail, sizeof(tail), "/%u", number));
    char text[16] = {};
    const std::size_t head_size = name.copy(text, sizeof(text) - 1 - tail_size);
    std::copy_n(tail, tail_size, text + head_size);
    prctl(PR_SET_NAME, text);
#else
    static_cast<void>(name);
    static_cast<void>(number);
#endif
}

}  // namespace roost::inline ROOST_ABI::detail
