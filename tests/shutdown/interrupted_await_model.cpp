// An interrupted await between its wake and stop.

#include <roost/shutdown/shutdown.hpp>
#include <roost/sync/event.hpp>
#include <roost/testing/explore_gtest.hpp>

#include <memory>

#include "../sync/coroutines.hpp"

namespace {

using roost::shutdown;
using roost::testing::check;
using sync_testing::hosted;

hosted await_inline(roost::executor&, roost::interrupt<roost::event::operation> i,
                    roost::seam::atomic<std::uint32_t>& outcome) {
    auto result = co_await i;
    outcome.fetch_add(result ? 1 : 16, roost::seam::mo::relaxed);
}

// SHUT-20, SHUT-21: exactly one of them wins, the coroutine is resumed once, and the wait is in no queue afterwards.
MODEL(interrupted_await_model, wake_and_stop) {
    roost::ext::inline_executor here;
    const shutdown s;
    roost::event e;
    roost::seam::atomic<std::uint32_t> outcome{0};
    {
        auto waiting = await_inline(here, s.interrupt(e.wait()), outcome);
        roost::seam::thread stopper([&s] { s.shut_down(); });
        e.set();
        stopper.join();
    }
    const std::uint32_t how = outcome.load(roost::seam::mo::relaxed);
    check(how == 1 || how == 16, "SHUT-21: resumed exactly once");
}

// SHUT-20: stop comes while the await begins.
MODEL(interrupted_await_model, stop_while_beginning) {
    roost::ext::inline_executor here;
    const shutdown s;
    roost::event e;
    roost::seam::atomic<std::uint32_t> outcome{0};
    roost::seam::thread stopper([&s] { s.shut_down(); });
    {
        auto waiting = await_inline(here, s.interrupt(e.wait()), outcome);
        stopper.join();
    }
    check(outcome.load(roost::seam::mo::relaxed) == 16, "SHUT-21: stop always wakes it");
}

// SHUT-46: the node goes while the await begins.
MODEL(interrupted_await_model, gone_while_beginning) {
    roost::ext::inline_executor here;
    const shutdown root;
    auto c = std::make_unique<shutdown>(root.child());
    roost::event e;
    roost::seam::atomic<std::uint32_t> outcome{0};
    auto i = c->interrupt(e.wait());
    roost::seam::thread dropper([&c] { c.reset(); });
    {
        auto waiting = await_inline(here, std::move(i), outcome);
        dropper.join();
    }
    check(outcome.load(roost::seam::mo::relaxed) == 16, "SHUT-46: it never waits for ever");
}

}  // namespace
