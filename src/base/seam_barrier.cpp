#include <roost/base/atomic.hpp>

#if !defined(ROOST_SEAM_MODEL)

#include <roost/base/assert.hpp>

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

// The asymmetric barrier: membarrier() makes every running thread of the process pass a full fence.
//
// A sandbox that is entered later may refuse it while code relies on it. The barrier has to guarantee this: if a thread on the
// light side has not seen what the heavy side wrote, the heavy side's next load sees that thread's earlier store. Without the
// system call that load comes store_drain_time later: a processor publishes its stores within microseconds.

namespace roost::inline ROOST_ABI::detail {

constinit std::atomic<barrier_offer> kernel_barrier{barrier_offer::unknown};

bool ask_for_barrier() noexcept {
    const bool given = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
    barrier_offer seen = barrier_offer::unknown;
    kernel_barrier.compare_exchange_strong(seen, given ? barrier_offer::given : barrier_offer::never,
                                           std::memory_order_seq_cst);
    return kernel_barrier.load(std::memory_order_seq_cst) == barrier_offer::given;
}

}  // namespace roost::inline ROOST_ABI::detail

namespace roost::inline ROOST_ABI::seam {

namespace {

bool pass_fences() noexcept { return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0; }

void wait_for_stores() noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    atomic<std::uint32_t> still{0};
    const time_point over = deadline_after(now(), store_drain_time);
    while (now() < over) {
        static_cast<void>(wait_on_until(still, 0, over));
    }
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace

void heavy_barrier() noexcept {
    if (has_heavy_barrier()) {
        if (pass_fences()) {
            return;
        }
        detail::kernel_barrier.store(detail::barrier_offer::lost, std::memory_order_seq_cst);
    }
    if (detail::kernel_barrier.load(std::memory_order_seq_cst) == detail::barrier_offer::never) {
        detail::panic(
            "heavy_barrier() needs the membarrier system call, which this kernel refuses; check has_heavy_barrier() first");
    }
    wait_for_stores();
}

}  // namespace roost::inline ROOST_ABI::seam

#endif  // !ROOST_SEAM_MODEL
