#include <roost/runtime/detail/fork_check.hpp>

#include <roost/base/assert.hpp>

#include <string>

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
    const std::string tail = "/" + std::to_string(number);
    const std::string text = std::string(name.substr(0, 15 - tail.size())) + tail;
    prctl(PR_SET_NAME, text.c_str());
#else
    static_cast<void>(name);
    static_cast<void>(number);
#endif
}

}  // namespace roost::inline ROOST_ABI::detail
