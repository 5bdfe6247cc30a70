// What a guard does not cost: memory, system calls.

#include <roost/shutdown/shutdown.hpp>

#include <gtest/gtest.h>

#include "counted_memory.hpp"

#include <csignal>
#include <thread>

#if defined(__linux__)
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace {

using counted_memory::allocations;
using roost::guard;
using roost::shutdown;

class guard_cost : public ::testing::Test {
protected:
    // One, a copy, one that may be refused; on the root, which counts per thread after a while, and three levels down, where the
    // last one always goes.
    void make_guards(int rounds) const {
        for (int i = 0; i < rounds; ++i) {
            const guard a = root.guard();
            const guard b = a;
            const guard c = leaf.guard();
            const auto d = leaf.try_guard();
        }
    }
    shutdown root{"root"};
    shutdown leaf = root.child("middle").child("leaf");
};

TEST_F(guard_cost, SHUT_74_SWB_3_a_hundred_thousand_guards_allocate_nothing) {
    make_guards(25'000);
    const long before = allocations;
    make_guards(25'000);
    EXPECT_EQ(allocations, before);
    const auto* counted = new shutdown("other");
    EXPECT_GT(allocations, before) << "the count counts";
    delete counted;
}

// check(guard) in a thread whose table has to be made, and cannot be: those of threads that have ended are used again first.
void without_table(const shutdown& s, const auto& check) {
    std::thread other([&] {
        counted_memory::fail_after = 0;
        guard first = s.guard();
        const bool has_failed = counted_memory::fail_after < 0;
        counted_memory::fail_after = -1;
        if (has_failed) {
            check(first);
        } else {
            without_table(s, check);
        }
    });
    other.join();
}

TEST_F(guard_cost, SHUT_102_without_memory_for_its_record_a_guard_counts) {
    without_table(leaf, [this](guard& unknown) {
        const auto before = root.guard_count();
        EXPECT_FALSE(unknown.site().is_known());
        const guard second = root.guard();
        EXPECT_TRUE(second.site().is_known()) << "there is memory again";
        EXPECT_EQ(root.guard_count(), before + 1);
        EXPECT_EQ(root.report().total(), before + 1);
        auto done = root.shut_down();
        unknown.reset();
        EXPECT_EQ(root.guard_count(), before);
        EXPECT_FALSE(done.is_resolved());
    });
    EXPECT_EQ(root.state(), roost::shutdown_state::complete);
}

#if defined(__linux__) && defined(ROOST_SEAM_NATIVE) && !ROOST_ASAN

// The kernel kills a process that makes any other system call than read, write and exit.
[[noreturn]] void without_system_calls(const auto& fn) {
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) {
        _exit(3);
    }
    fn();
    syscall(SYS_exit, 0);
    std::abort();
}

TEST_F(guard_cost, SHUT_74_SWB_3_a_hundred_thousand_guards_make_no_system_call) {
    GTEST_FLAG_SET(death_test_style, "fast");
    make_guards(25'000);
    const auto code = [](int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); };
    int made = -1;
    EXPECT_EXIT(
        without_system_calls([this] { make_guards(25'000); }),
        [&](int status) {
            made = code(status);
            return made == 0 || made == 3;
        },
        "");
    int called = -1;
    EXPECT_EXIT(
        without_system_calls([] { syscall(SYS_sched_yield); }),
        [&](int status) {
            called = code(status);
            return called == 128 + SIGKILL || called == 3;
        },
        "");
    if (made == 3) {
        GTEST_SKIP() << "this kernel does not let a process lock itself in";
    }
    EXPECT_EQ(called, 128 + SIGKILL) << "the kernel sees calls";
}

#endif

}  // namespace
