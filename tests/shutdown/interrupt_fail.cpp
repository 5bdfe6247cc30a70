// What stop can't do has to be spelled out (SHUT-69, SHUT-70, SHUT-81).

#include <roost/shutdown/shutdown.hpp>
#include <roost/sync/event.hpp>

#include "../sync/coroutines.hpp"

sync_testing::hosted wait(roost::executor&, roost::shutdown s) {
#ifdef FAIL_1
    // expect: stop can't cancel this awaitable: write interrupt(finish(x))
    auto result = co_await s.interrupt(std::suspend_always());
#else
    auto result = co_await s.interrupt(roost::finish(std::suspend_always()));
#endif
    static_cast<void>(result);
}

sync_testing::fire wait_without_executor(roost::shutdown s, roost::event& e, roost::executor& where) {
#ifdef FAIL_2
    // expect: this coroutine type has no executor, so stop has nowhere to resume it
    auto result = co_await s.interrupt(e.wait());
#else
    auto result = co_await s.interrupt(e.wait()).on(where);
#endif
    static_cast<void>(result);
}

// As a task: can be awaited only in tasks, and no header included here can cancel it.
struct in_tasks {
    struct promise {};
    [[nodiscard]] std::suspend_never in_task(promise&) const noexcept { return {}; }
};
struct stream_of_tasks {
#ifdef FAIL_3
    // expect: this operation is awaited in tasks: include <roost/task/until_stop.hpp>
    in_tasks next() { return {}; }
#else
    int next() { return 1; }
#endif
};
int next_of(const roost::shutdown& s) {
    auto stream = s.interrupt(stream_of_tasks());
    static_cast<void>(stream.next());
    return 0;
}
