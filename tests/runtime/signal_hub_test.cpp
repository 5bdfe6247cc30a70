#include <roost/runtime/detail/signal_hub.hpp>

#include <roost/base/error.hpp>
#include <roost/sync/event.hpp>

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

namespace roost::detail {
namespace {

class counting_target final : public signal_target {
public:
    using signal_target::signal_target;
    void arrived(int number) noexcept override {
        last.store(number, mo::seq_cst);
        told.set();
    }
    event told;
    atomic<int> last{0};
};

std::size_t entries(const char* folder) {
    std::size_t n = 0;
    for ([[maybe_unused]] const auto& one : std::filesystem::directory_iterator(folder)) {
        ++n;
    }
    return n;
}

// A joined thread is listed for a moment longer: waits until there are no more than so many.
std::size_t threads_down_to(std::size_t wanted) {
    const time_point hangs = deadline_after(now(), std::chrono::seconds(60));
    std::size_t n = entries("/proc/self/task");
    while (n > wanted && now() < hangs) {
        yield_thread();
        n = entries("/proc/self/task");
    }
    return n;
}

bool has_default(int number) {
    struct sigaction now{};
    ::sigaction(number, nullptr, &now);
    return (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL;
}

std::string refusal_of(int number) {
    try {
        static_cast<void>(signal_numbers(number));
    } catch (const error& e) {
        EXPECT_EQ(e.kind(), errc::refused);
        return e.what();
    }
    return "taken";
}

TEST(signal_hub, RUN_183_what_cannot_be_waited_for_is_refused_with_a_sentence) {
    EXPECT_NE(refusal_of(SIGKILL).find("SIGKILL cannot be caught"), std::string::npos);
    EXPECT_NE(refusal_of(SIGSTOP).find("SIGSTOP cannot be caught"), std::string::npos);
    EXPECT_NE(refusal_of(SIGSEGV).find("SIGSEGV is a fault of the program"), std::string::npos);
    EXPECT_NE(refusal_of(0).find("0 is not a signal"), std::string::npos);
    EXPECT_NE(refusal_of(-3).find("-3 is not a signal"), std::string::npos);
    EXPECT_NE(refusal_of(32).find("32 is not a signal"), std::string::npos);  // glibc's own
    EXPECT_NE(refusal_of(1000).find("1000 is not a signal"), std::string::npos);
    EXPECT_EQ(refusal_of(SIGRTMIN), "taken");
    EXPECT_EQ(refusal_of(SIGRTMAX), "taken");
}

TEST(signal_hub, RUN_182_the_former_effect_is_back_when_the_last_target_has_gone) {
    ASSERT_TRUE(has_default(SIGUSR2));
    const auto one = std::make_shared<counting_target>(signal_numbers(SIGUSR2));
    const auto two = std::make_shared<counting_target>(signal_numbers(SIGUSR2, SIGRTMAX));
    for (int turn = 0; turn < 3; ++turn) {
        signal_hub::add(one);
        signal_hub::add(two);
        one->told.reset();
        two->told.reset();
        ::raise(SIGUSR2);
        one->told.wait_blocking();
        two->told.wait_blocking();
        EXPECT_EQ(two->last.load(mo::seq_cst), SIGUSR2);
        signal_hub::remove(*one);
        EXPECT_FALSE(has_default(SIGUSR2));
        signal_hub::remove(*two);
        EXPECT_TRUE(has_default(SIGUSR2));
        EXPECT_TRUE(has_default(SIGRTMAX));
    }
}

TEST(signal_hub, RUN_185_a_released_target_is_told_nothing_new_and_the_signal_has_its_former_effect) {
    const auto one = std::make_shared<counting_target>(signal_numbers(SIGUSR2));
    signal_hub::add(one);
    signal_hub::release(*one);
    signal_hub::release(*one);
    EXPECT_TRUE(has_default(SIGUSR2));
    signal_hub::remove(*one);
    EXPECT_TRUE(has_default(SIGUSR2));
}

atomic<int> before_called{0};

TEST(signal_hub, RUN_182_a_handler_that_was_there_before_is_called_as_well) {
    before_called.store(0, mo::seq_cst);
    struct sigaction plain{};
    struct sigaction usual{};
    plain.sa_handler = +[](int) { before_called.fetch_add(1, mo::seq_cst); };
    ASSERT_EQ(::sigaction(SIGUSR2, &plain, &usual), 0);
    const auto one = std::make_shared<counting_target>(signal_numbers(SIGUSR2));
    signal_hub::add(one);
    ::raise(SIGUSR2);
    one->told.wait_blocking();
    EXPECT_EQ(before_called.load(mo::seq_cst), 1);
    signal_hub::remove(*one);
    ::raise(SIGUSR2);
    EXPECT_EQ(before_called.load(mo::seq_cst), 2);
    ::sigaction(SIGUSR2, &usual, nullptr);
}

// Others save our handler and put it back when we are gone: it does what was before.
TEST(signal_hub, RUN_182_a_handler_that_is_put_back_too_late_does_what_was_before) {
    const auto one = std::make_shared<counting_target>(signal_numbers(SIGUSR2));
    signal_hub::add(one);
    struct sigaction over{};
    struct sigaction saved{};
    over.sa_handler = SIG_IGN;
    ASSERT_EQ(::sigaction(SIGUSR2, &over, &saved), 0);
    signal_hub::remove(*one);
    struct sigaction now{};
    ::sigaction(SIGUSR2, nullptr, &now);
    EXPECT_EQ(now.sa_handler, SIG_IGN);  // not ours to change
    ASSERT_EQ(::sigaction(SIGUSR2, &saved, nullptr), 0);
    EXPECT_EXIT(::raise(SIGUSR2), ::testing::KilledBySignal(SIGUSR2), "");
    // And a new watch takes it over again without calling itself.
    one->told.reset();
    signal_hub::add(one);
    ::raise(SIGUSR2);
    one->told.wait_blocking();
    signal_hub::remove(*one);
    EXPECT_TRUE(has_default(SIGUSR2));
}

TEST(signal_hub, RUN_187_a_forked_child_has_the_former_effect) {
    const auto one = std::make_shared<counting_target>(signal_numbers(SIGUSR2));
    signal_hub::add(one);
    const pid_t child = ::fork();
    if (child == 0) {
        const bool usual = has_default(SIGUSR2);
        signal_hub::release(*one);
        signal_hub::remove(*one);
        ::_exit(usual && has_default(SIGUSR2) ? 7 : 8);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    ::raise(SIGUSR2);  // the parent's is still there
    one->told.wait_blocking();
    signal_hub::remove(*one);
}

TEST(signal_hub, RUN_188_no_thread_and_no_descriptor_is_left) {
    const auto one = std::make_shared<counting_target>(signal_numbers(SIGUSR2));
    signal_hub::add(one);
    signal_hub::remove(*one);
    std::size_t threads = entries("/proc/self/task");
    for (int look = 0; look < 100; ++look) {  // those of earlier tests may be listed for a moment longer, too
        yield_thread();
        threads = std::min(threads, entries("/proc/self/task"));
    }
    const std::size_t files = entries("/proc/self/fd");
    for (int i = 0; i < 50; ++i) {
        signal_hub::add(one);
        signal_hub::remove(*one);
    }
    EXPECT_LE(threads_down_to(threads), threads);
    EXPECT_EQ(entries("/proc/self/fd"), files);
}

TEST(signal_hub, RUN_180_a_signal_that_every_other_thread_blocks_is_taken) {
    sigset_t blocked;
    sigset_t before;
    ::sigemptyset(&blocked);
    ::sigaddset(&blocked, SIGUSR2);
    ::sigprocmask(SIG_BLOCK, &blocked, &before);
    const auto one = std::make_shared<counting_target>(signal_numbers(SIGUSR2));
    signal_hub::add(one);
    ::kill(::getpid(), SIGUSR2);
    one->told.wait_blocking();
    signal_hub::remove(*one);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

// As a library does that wants signals of its own and passes them on.
struct sigaction below_theirs;
atomic<int> theirs_called{0};
void theirs(int number, siginfo_t* info, void* context) {
    theirs_called.fetch_add(1, mo::seq_cst);
    if ((below_theirs.sa_flags & SA_SIGINFO) != 0) {
        below_theirs.sa_sigaction(number, info, context);
    }
}
void install_theirs(int number) {
    struct sigaction mine{};
    mine.sa_sigaction = theirs;
    mine.sa_flags = SA_SIGINFO;
    ASSERT_EQ(::sigaction(number, &mine, &below_theirs), 0);
}

TEST(signal_hub, RUN_199_a_chain_that_comes_back_to_us_ends) {
    before_called.store(0, mo::seq_cst);
    theirs_called.store(0, mo::seq_cst);
    struct sigaction plain{};
    struct sigaction usual{};
    plain.sa_handler = +[](int) { before_called.fetch_add(1, mo::seq_cst); };
    ASSERT_EQ(::sigaction(SIGUSR2, &plain, &usual), 0);
    const auto one = std::make_shared<counting_target>(signal_numbers(SIGUSR2));
    signal_hub::add(one);
    install_theirs(SIGUSR2);
    signal_hub::remove(*one);
    int turns = 0;
    for (; turns < 3; ++turns) {  // ours is above theirs and below it
        one->told.reset();
        signal_hub::add(one);
        ::raise(SIGUSR2);
        one->told.wait_blocking();
        EXPECT_EQ(theirs_called.load(mo::seq_cst), turns + 1);
        EXPECT_EQ(before_called.load(mo::seq_cst), turns + 1);
        signal_hub::remove(*one);
    }
    install_theirs(SIGUSR2);  // over itself
    signal_hub::add(one);
    install_theirs(SIGUSR2);  // over ours, which is over it: it has forgotten what was below
    ::raise(SIGUSR2);
    signal_hub::remove(*one);
    ::sigaction(SIGUSR2, &usual, nullptr);
}

TEST(signal_hub, RUN_199_a_second_target_hears_of_signals_under_a_handler_that_passes_nothing_on) {
    const auto one = std::make_shared<counting_target>(signal_numbers(SIGUSR2));
    const auto two = std::make_shared<counting_target>(signal_numbers(SIGUSR2));
    signal_hub::add(one);
    struct sigaction deaf{};
    deaf.sa_handler = +[](int) {};
    struct sigaction ours{};
    ASSERT_EQ(::sigaction(SIGUSR2, &deaf, &ours), 0);
    signal_hub::add(two);
    ::raise(SIGUSR2);
    struct sigaction now{};
    ::sigaction(SIGUSR2, nullptr, &now);
    EXPECT_NE(now.sa_handler, deaf.sa_handler);
    if (now.sa_handler != deaf.sa_handler) {
        two->told.wait_blocking();
    }
    signal_hub::remove(*two);
    signal_hub::remove(*one);
    ::sigaction(SIGUSR2, nullptr, &now);
    EXPECT_EQ(now.sa_handler, deaf.sa_handler);
    deaf.sa_handler = SIG_DFL;
    ::sigaction(SIGUSR2, &deaf, nullptr);
}

TEST(signal_hub, RUN_200_what_is_no_longer_watched_stays_blocked_for_sigwait) {
    sigset_t blocked;
    sigset_t before;
    ::sigemptyset(&blocked);
    ::sigaddset(&blocked, SIGUSR2);
    ::sigprocmask(SIG_BLOCK, &blocked, &before);
    const auto stays = std::make_shared<counting_target>(signal_numbers(SIGRTMAX));
    signal_hub::add(stays);
    for (int turn = 0; turn < 20; ++turn) {
        const auto one = std::make_shared<counting_target>(signal_numbers(SIGUSR2));
        signal_hub::add(one);
        ::kill(::getpid(), SIGUSR2);
        one->told.wait_blocking();
        signal_hub::remove(*one);
        ::kill(::getpid(), SIGUSR2);
        const timespec limit{5, 0};
        EXPECT_EQ(::sigtimedwait(&blocked, nullptr, &limit), SIGUSR2);
    }
    signal_hub::remove(*stays);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

TEST(signal_hub, RUN_184_names) {
    EXPECT_EQ(signal_name_of(SIGTERM), "SIGTERM");
    EXPECT_EQ(signal_name_of(SIGINT), "SIGINT");
    EXPECT_EQ(signal_name_of(60), "signal 60");
}

}  // namespace
}  // namespace roost::detail
