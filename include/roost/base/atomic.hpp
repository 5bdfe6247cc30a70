#pragma once

// The seam. Only this header and its back ends use atomics, locks, parking, threads, thread-locals, the clock, random
// numbers and node memory. All other code uses the names listed here. So the explorer can run the shipped code under every
// interleaving. The names are in the namespace roost::seam, for this library and for models of a user's own code. Only now()
// is also roost::now().
//
//   atomic<T>                     load store exchange compare_exchange_{weak,strong} fetch_{add,sub,or,and}; orders explicit
//   plain<T>                      ordinary memory that is handed between threads: get() set(v); models detect races;
//                                 plain(unset) leaves it uninitialised
//   small_mutex                   4 bytes, lock() unlock() try_lock(); for short slow paths, never held while calling out
//   os_mutex, os_condvar          what the portable parker uses: wait(os_mutex&), wait_until(os_mutex&, t), notify_one()
//   wait_on(word, expected)       block while word == expected (may return early); wait_on_until(..., t) false on time-out
//   wait_briefly(word, expected)  as wait_on(), at most for a moment: for a word whose writer calls no wake_on()
//   wake_on(&word, n)             wake up to n threads blocked on word; only the address is used, so word may be destroyed
//   thread                        spawn and join; detached only when it is abandoned because it does not end
//   thread_index()                small dense number of the calling thread, reused after it ends
//   thread_value<Tag, T>::get()   the calling thread's own T, reached out of line so that no coroutine caches its address
//   now(), coarse_now()           monotonic clock; coarse is cheaper and up to 4 ms behind
//   ticks()                       the processor's time stamp, without an order to other operations; its unit is found by comparing
//                                 two stamps with now()
//   random_u64()                  per-thread generator, for jitter and choice, not for secrets
//   swap_random_state(s)          set the generator's state, return the old one; equal states generate equal numbers
//   allocate / deallocate         node memory; throws std::bad_alloc
//   allocate_frame / deallocate_frame   coroutine frames and job blocks, recycled per thread
//   light_barrier, heavy_barrier  asymmetric pair: heavy_barrier() orders every thread's light_barrier(). has_heavy_barrier()
//                                 returns false if the kernel has none or has refused it. From then on heavy_barrier()
//                                 blocks for store_drain_time, which is slow
//   spin_hint(), yield_thread()   this thread waits for another one
//
// Back ends: native (ships), jitter (native plus random delays), model (the explorer's; see testing/explore.hpp).

#include <roost/base/clock.hpp>
#include <roost/base/config.hpp>

#include <atomic>

namespace roost::inline ROOST_ABI::seam {

// Short names for memory orders. Every use carries a label of its file's ordering table.
namespace mo {
inline constexpr std::memory_order relaxed = std::memory_order_relaxed;
inline constexpr std::memory_order acquire = std::memory_order_acquire;
inline constexpr std::memory_order release = std::memory_order_release;
inline constexpr std::memory_order acq_rel = std::memory_order_acq_rel;
inline constexpr std::memory_order seq_cst = std::memory_order_seq_cst;
}  // namespace mo

// For members that are written later: an awaiter that need not wait does not write its node.
struct unset_t {};
inline constexpr unset_t unset{};

// Longer than any processor delays a store. A load that is this much later sees the store.
inline constexpr duration store_drain_time = std::chrono::milliseconds(2);

}  // namespace roost::inline ROOST_ABI::seam

#if defined(ROOST_SEAM_MODEL)
#include <roost/base/detail/seam_model.hpp>  // IWYU pragma: export
#elif defined(ROOST_SEAM_JITTER)
#include <roost/base/detail/seam_jitter.hpp>  // IWYU pragma: export
#else
#include <roost/base/detail/seam_native.hpp>  // IWYU pragma: export
#endif

namespace roost::inline ROOST_ABI {
using seam::now;
}  // namespace roost::inline ROOST_ABI
