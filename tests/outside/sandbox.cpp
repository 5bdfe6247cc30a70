// A program that enters a sandbox after its runtime has started: the kernel refuses membarrier from then on.

#include <roost/roost.hpp>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;

bool refuse_membarrier() {
    sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(SYS_membarrier), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    sock_fprog program{4, code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

roost::task<> ping(roost::channel<int>& to, roost::channel<int>& from, int rounds) {
    for (int i = 0; i < rounds; ++i) {
        static_cast<void>(co_await to.send(i));
        static_cast<void>(co_await from.receive());
        if (i % 50 == 0) {
            co_await roost::sleep_for(1ms);  // workers fall asleep
        }
    }
}
roost::task<> pong(roost::channel<int>& from, roost::channel<int>& to, int rounds) {
    for (int i = 0; i < rounds; ++i) {
        static_cast<void>(co_await from.receive());
        static_cast<void>(co_await to.send(i));
    }
}
roost::task<> guards(roost::shutdown& s) {
    for (int i = 0; i < 2000; ++i) {
        const auto held = s.guard();
        co_await roost::yield();
    }
}
roost::task<> all(roost::scope& s, roost::shutdown& work, bool* possible) {
    roost::channel<int> there(1);
    roost::channel<int> back(1);
    co_await roost::sleep_for(5ms);
    co_await roost::with_scope(
        [](roost::scope& in, roost::shutdown& w) -> roost::task<> {
            in.launch("guards", guards(w));
            in.launch("guards", guards(w));
            co_return;
        },
        std::ref(work));
    *possible = refuse_membarrier();
    for (int i = 0; i < 3; ++i) {
        s.launch("guards", guards(work));
    }
    co_await roost::with_scope(
        [](roost::scope& in, roost::channel<int>& a, roost::channel<int>& b) -> roost::task<> {
            in.launch("ping", ping(a, b, 500));
            in.launch("pong", pong(a, b, 500));
            co_return;
        },
        std::ref(there), std::ref(back));
}
roost::task<> top(roost::shutdown& work, bool* possible) { co_await roost::with_scope(all, std::ref(work), possible); }

}  // namespace

int main() {
    alarm(60);
    bool possible = false;
    roost::shutdown work("work");
    roost::run(top(work, &possible), roost::runtime_options().workers(4));
    if (!possible) {
        return 77;  // this kernel allows no filter
    }
    std::move(work).wait_blocking();
    const int again = roost::run([]() -> roost::task<int> { co_return 1; }(), roost::runtime_options().workers(2));
    if (again != 1) {
        std::printf("a runtime made in the sandbox did not run\n");
        return 1;
    }
    return 0;
}
