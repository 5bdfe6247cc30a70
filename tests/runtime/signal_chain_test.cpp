#include <roost/runtime/detail/signal_chain.hpp>

#include <gtest/gtest.h>

namespace roost::detail {
namespace {

constinit signal_chain chain;
atomic<int> ours_called{0};
atomic<int> below_called{0};

void ours(int number, siginfo_t* info, void* context) {
    const signal_depth here(signal_depth::kind::hub, number);
    ours_called.fetch_add(here.is_first() ? 1 : 0, mo::seq_cst);
    chain.pass_on(here, ours, true, number, info, context);
}

TEST(signal_chain, RUN_199_what_was_there_before_is_called_and_put_back) {
    sigset_t none;
    ::sigemptyset(&none);
    struct sigaction below{};
    struct sigaction usual{};
    below.sa_handler = +[](int) { below_called.fetch_add(1, mo::seq_cst); };
    ASSERT_EQ(::sigaction(SIGUSR2, &below, &usual), 0);
    chain.install(SIGUSR2, ours, none);
    chain.install(SIGUSR2, ours, none);  // does nothing
    ::raise(SIGUSR2);
    EXPECT_EQ(ours_called.load(mo::seq_cst), 1);
    EXPECT_EQ(below_called.load(mo::seq_cst), 1);
    chain.uninstall(SIGUSR2, ours);
    struct sigaction now{};
    ::sigaction(SIGUSR2, &usual, &now);
    EXPECT_EQ(now.sa_handler, below.sa_handler);
}

TEST(signal_chain, RUN_199_the_depth_is_counted_by_signal_and_kind) {
    const signal_depth outer(signal_depth::kind::hub, SIGUSR1);
    EXPECT_TRUE(outer.is_first());
    EXPECT_TRUE(signal_depth(signal_depth::kind::hub, SIGUSR2).is_first());
    EXPECT_TRUE(signal_depth(signal_depth::kind::service, SIGUSR1).is_first());
    for (int turn = 0; turn < 2; ++turn) {
        const signal_depth inner(signal_depth::kind::hub, SIGUSR1);
        EXPECT_TRUE(inner.is_second());
        const signal_depth innermost(signal_depth::kind::hub, SIGUSR1);
        EXPECT_FALSE(innermost.is_first() || innermost.is_second());
    }
}

}  // namespace
}  // namespace roost::detail
