#pragma once

// A process whose kernel says that it has no membarrier, as old ones do. For death tests of the style "threadsafe": the answer is
// asked for once in a process, so it has to be a new one.

#if defined(__linux__)

#include <cerrno>
#include <cstddef>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace without_membarrier {

inline constexpr int held = 0;
inline constexpr int broken = 1;
inline constexpr int not_possible = 3;

// From now on, for every thread of the process. False where the kernel allows no filter.
inline bool begin() {
    sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{sizeof code / sizeof code[0], code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

// Ends the process, with `held` when fn() is true.
[[noreturn]] void run(const auto& fn) {
    if (!begin()) {
        _exit(not_possible);
    }
    _exit(fn() ? held : broken);
}

// For EXPECT_EXIT. Also when the kernel lets nobody filter: then there is nothing to see.
inline bool is_fine(int status) {
    return WIFEXITED(status) && (WEXITSTATUS(status) == held || WEXITSTATUS(status) == not_possible);
}

}  // namespace without_membarrier

#endif
