#pragma once

// The thread that ends the process when no other can: the sink blocks, a join hangs, memory is broken. It takes no locks,
// allocates nothing and logs nothing. It lives from before a service's first line to after its last. It counts the time
// from the first signal itself, without the help of another thread.
//
// id  operation             order    pairs  carries              fails in
// L1  ending: store/load    seq_cst  L1     nothing but itself   (no model: it sleeps in the kernel)

#include <roost/base/atomic.hpp>
#include <roost/service/detail/host_core.hpp>
#include <roost/service/detail/wake_fd.hpp>

namespace roost::inline ROOST_ABI::service::detail {

using namespace seam;

// The extra time for the last words after the third signal or the hard deadline.
inline constexpr duration last_words_budget = std::chrono::seconds(2);

class last_resort {
public:
    explicit last_resort(const host_core& core);  // throws std::system_error without a thread or a descriptor
    ~last_resort();
    last_resort(const last_resort&) = delete;
    last_resort& operator=(const last_resort&) = delete;

    // Rung when a signal has arrived or the hard deadline is set.
    [[nodiscard]] const wake_fd& bell() const noexcept { return bell_; }

private:
    void run() const noexcept;

    const host_core& core_;
    wake_fd bell_;
    atomic<bool> ending_{false};
    thread thread_;
};

}  // namespace roost::inline ROOST_ABI::service::detail
