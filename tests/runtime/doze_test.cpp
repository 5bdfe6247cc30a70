#include <roost/runtime/detail/doze.hpp>

#include <gtest/gtest.h>

#include "without_membarrier.hpp"

namespace {

#if defined(__linux__)

TEST(doze, RUN_73_without_membarrier_a_watcher_may_doze_but_not_sleep_for_ever) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(without_membarrier::run([] {
                    roost::detail::doze watcher;
                    watcher.fall();
                    const bool seen = watcher.is_on();
                    return seen && !roost::detail::doze::sleeps_safely() && watcher.wake() && !watcher.is_on();
                }),
                without_membarrier::is_fine, "");
}

#endif

}  // namespace
