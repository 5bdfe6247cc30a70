#include <roost/service/detail/signal_inbox.hpp>

#include <roost/runtime/signal_watch.hpp>
#include <roost/service/detail/wake_fd.hpp>

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace roost::service::detail {
namespace {

class remembering : public ::testing::Test {
protected:
    remembering() { remember_signals(); }
    ~remembering() override { forget_signals(); }
};

std::atomic<int> seen_by_old_handler{0};
void old_handler(int number) { seen_by_old_handler = number; }

using signal_inbox_test = remembering;

TEST_F(signal_inbox_test, SVC_7_signals_are_counted_with_their_sender) {
    EXPECT_EQ(signal_inbox::read().of(handled::term), 0U);
    for (int i = 0; i < 3; ++i) {
        ::raise(SIGTERM);
    }
    ::raise(SIGUSR1);
    const signal_counts n = signal_inbox::read();
    EXPECT_EQ(n.of(handled::term), 3U);
    EXPECT_EQ(n.of(handled::user), 1U);
    EXPECT_EQ(n.of(handled::interrupt), 0U);
    EXPECT_EQ(n.sender_of(handled::term, 2), ::getpid());
}

TEST_F(signal_inbox_test, SVC_8_each_of_several_has_its_own_sender_and_the_last_eight_are_kept) {
    std::vector<pid_t> senders;
    for (int i = 0; i < 3; ++i) {
        const pid_t child = ::fork();
        if (child == 0) {
            ::_exit(::kill(::getppid(), SIGTERM));
        }
        int status = 1;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        ASSERT_EQ(status, 0);
        senders.push_back(child);
    }
    const signal_counts three = signal_inbox::read();
    ASSERT_EQ(three.of(handled::term), 3U);
    for (std::uint32_t i = 0; i < 3; ++i) {
        EXPECT_EQ(three.sender_of(handled::term, i), senders[i]);
    }
    EXPECT_EQ(three.sender_of(handled::term, 3), unknown_sender);  // not come yet
    for (std::size_t i = 0; i < senders_kept; ++i) {
        ::raise(SIGTERM);
    }
    const signal_counts more = signal_inbox::read();
    EXPECT_EQ(more.sender_of(handled::term, 2), unknown_sender);
    EXPECT_EQ(more.sender_of(handled::term, 3), ::getpid());
    EXPECT_EQ(more.sender_of(handled::term, more.of(handled::term) - 1), ::getpid());
}

// Descriptors are closed right after listening ends, and their numbers may be reused then.
TEST_F(signal_inbox_test, SVC_90_no_descriptor_is_rung_after_listening_ended) {
    std::atomic<bool> on{true};
    std::vector<std::thread> senders;
    for (int i = 0; i < 2; ++i) {
        senders.emplace_back([&on] {
            while (on) {
                ::raise(SIGUSR1);
            }
        });
    }
    int rung = 0;
    for (int i = 0; i < 2000; ++i) {
        const wake_fd bell;
        signal_inbox::listen(bell.fd(), -1);
        signal_inbox::listen(-1, -1);
        std::uint64_t rings = 0;
        rung += ::read(bell.fd(), &rings, sizeof rings) > 0 ? 1 : 0;
        std::this_thread::yield();
        EXPECT_LT(::read(bell.fd(), &rings, sizeof rings), 0);
    }
    on = false;
    for (std::thread& t : senders) {
        t.join();
    }
    EXPECT_GT(rung, 0);
}

TEST_F(signal_inbox_test, SVC_7_who_listens_later_is_rung_for_what_came_before) {
    ::raise(SIGINT);
    const wake_fd bell;
    signal_inbox::listen(bell.fd(), -1);
    bell.sleep_until(no_deadline);  // hangs without a ring
    ::raise(SIGINT);
    bell.sleep_until(no_deadline);
    EXPECT_EQ(signal_inbox::read().of(handled::interrupt), 2U);
}

TEST(signal_inbox, SVC_13_handlers_are_given_back) {
    struct sigaction mine{};
    mine.sa_handler = old_handler;
    struct sigaction before{};
    ::sigaction(SIGUSR1, &mine, &before);
    remember_signals();
    remember_signals();  // does nothing
    ::raise(SIGUSR1);
    EXPECT_EQ(seen_by_old_handler, SIGUSR1) << "SVC-107: it is called as well";
    EXPECT_EQ(signal_inbox::read().of(handled::user), 1U);
    forget_signals();
    forget_signals();
    seen_by_old_handler = 0;
    ::raise(SIGUSR1);
    EXPECT_EQ(seen_by_old_handler, SIGUSR1);
    EXPECT_EQ(signal_inbox::read().of(handled::user), 0U);
    ::sigaction(SIGUSR1, &before, nullptr);
}

bool has_default(int number) {
    struct sigaction now{};
    ::sigaction(number, nullptr, &now);
    return (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL;
}

// Both told once of one SIGUSR1.
void expect_both_told(signal_watch& w) {
    const std::uint32_t before = signal_inbox::read().of(handled::user);
    ::raise(SIGUSR1);
    EXPECT_EQ(signal_inbox::read().of(handled::user), before + 1);
    EXPECT_TRUE(w.receive_blocking(deadline_after(now(), std::chrono::seconds(10))));
    EXPECT_FALSE(w.try_receive());
}

TEST(signal_inbox, SVC_107_a_watch_from_before_and_one_made_inside_are_told) {
    for (const bool watch_goes_first : {false, true}) {
        ASSERT_TRUE(has_default(SIGUSR1));
        auto before = std::make_unique<signal_watch>(SIGUSR1);
        remember_signals();
        expect_both_told(*before);
        auto inside = std::make_unique<signal_watch>(SIGUSR1);
        expect_both_told(*inside);
        EXPECT_TRUE(before->try_receive());
        if (watch_goes_first) {
            before.reset();
            inside.reset();
            forget_signals();
        } else {
            forget_signals();
            ::raise(SIGUSR1);
            EXPECT_TRUE(inside->receive_blocking(deadline_after(now(), std::chrono::seconds(10))));
            before.reset();
            inside.reset();
        }
        EXPECT_EXIT(::raise(SIGUSR1), ::testing::KilledBySignal(SIGUSR1), "");
        remember_signals();  // and a second service is told once
        ::raise(SIGUSR1);
        EXPECT_EQ(signal_inbox::read().of(handled::user), 1U);
        forget_signals();
        EXPECT_EXIT(::raise(SIGUSR1), ::testing::KilledBySignal(SIGUSR1), "");
        struct sigaction usual{};
        usual.sa_handler = SIG_DFL;
        ::sigaction(SIGUSR1, &usual, nullptr);
    }
}

TEST(signal_inbox, SVC_107_a_watch_that_ends_before_the_service_leaves_it_its_signals) {
    auto before = std::make_unique<signal_watch>(SIGUSR1);
    remember_signals();
    before.reset();
    ::raise(SIGUSR1);  // not deadly
    EXPECT_EQ(signal_inbox::read().of(handled::user), 1U);
    forget_signals();
    EXPECT_EXIT(::raise(SIGUSR1), ::testing::KilledBySignal(SIGUSR1), "");
    struct sigaction usual{};
    usual.sa_handler = SIG_DFL;
    ::sigaction(SIGUSR1, &usual, nullptr);
}

TEST(signal_inbox, SVC_107_a_handler_that_was_installed_over_ours_stays) {
    seen_by_old_handler = 0;
    remember_signals();
    struct sigaction over{};
    over.sa_handler = old_handler;
    struct sigaction ours{};
    ::sigaction(SIGUSR1, &over, &ours);
    forget_signals();
    ::raise(SIGUSR1);
    EXPECT_EQ(seen_by_old_handler, SIGUSR1);
    ::sigaction(SIGUSR1, &ours, nullptr);  // put back too late: it does what was before
    EXPECT_EXIT(::raise(SIGUSR1), ::testing::KilledBySignal(SIGUSR1), "");
    struct sigaction usual{};
    usual.sa_handler = SIG_DFL;
    ::sigaction(SIGUSR1, &usual, nullptr);
}

TEST(signal_inbox, SVC_12_ignored_interrupts_and_hangups_stay_ignored) {
    struct sigaction before{};
    struct sigaction ignore{};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGINT, &ignore, &before);
    remember_signals();
    ::raise(SIGINT);
    EXPECT_EQ(signal_inbox::read().of(handled::interrupt), 0U);
    forget_signals();
    ::sigaction(SIGINT, &before, nullptr);
}

TEST(signal_inbox, SVC_3_dying_of_a_signal_is_seen_by_the_parent) {
    EXPECT_EXIT(die_of(SIGTERM), ::testing::KilledBySignal(SIGTERM), "");
    EXPECT_EXIT(die_of(SIGINT), ::testing::KilledBySignal(SIGINT), "");
    EXPECT_EXIT(die_of(0), ::testing::ExitedWithCode(124), "");
}

TEST(signal_inbox, SVC_14_a_broken_pipe_kills_only_outside) {
    EXPECT_EXIT(
        {
            const no_broken_pipes quiet;
            ::raise(SIGPIPE);
            ::_exit(7);
        },
        ::testing::ExitedWithCode(7), "");
    EXPECT_EXIT(
        {
            { const no_broken_pipes quiet; }
            ::raise(SIGPIPE);
        },
        ::testing::KilledBySignal(SIGPIPE), "");
}

TEST(signal_inbox, SVC_8_every_handled_signal_has_a_name_and_a_number) {
    std::set<std::string> names;
    for (const handled h : {handled::term, handled::interrupt, handled::hangup, handled::user}) {
        names.insert(signal_name(number_of(h)));
    }
    EXPECT_EQ(names, (std::set<std::string>{"SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1"}));
    EXPECT_EQ(signal_name(64), "signal 64");
}

}  // namespace
}  // namespace roost::service::detail
