// Stop and deadlines resume nothing inline, so they need an executor (SYNC-62).

#include <roost/sync/event.hpp>
#include <roost/sync/interruptible.hpp>

#include "coroutines.hpp"

sync_testing::fire wait(roost::event& e, std::stop_token token, roost::executor& where) {
#ifdef FAIL_1
    // expect: this coroutine type has no executor
    auto result = co_await roost::with_stop(e.wait(), token);
#else
    auto result = co_await roost::with_stop(e.wait(), token, where);
#endif
    static_cast<void>(result);
#ifdef FAIL_2
    // expect: this coroutine type has no executor
    auto late = co_await roost::with_deadline(e.wait(), roost::no_deadline);
    static_cast<void>(late);
#endif
}
