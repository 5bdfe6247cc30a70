// Awaiting a handle gives it up, so it has to be moved (SHUT-113).

#include <roost/shutdown/shutdown.hpp>

#include "../sync/coroutines.hpp"

sync_testing::hosted wait(roost::executor&, roost::shutdown s) {
#ifdef FAIL_1
    // expect: to keep the handle write co_await s.completion()
    co_await s;
#else
    co_await std::move(s);
#endif
}
