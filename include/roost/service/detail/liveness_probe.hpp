#pragma once

// Asks an executor now and then to run something, and says whether it did so in time.
//
// states   idle     nothing is posted; the prober may post
//          posted   the executor has it
//          orphan   the prober has left; whoever runs it frees it
//
//   idle --probe--> posted --run--> idle          posted --leave--> orphan --run--> freed
//
// id  operation           order    pairs  carries                                   fails in
// P1  run: CAS to idle    acq_rel  P2 P3  the executor's last touch                 liveness_probe_model: run_vs_leave
// P2  probe: load         acquire  P1     as P1                                     (floor: one prober)
// P3  leave: exchange     acq_rel  P1     who frees                                 liveness_probe_model: run_vs_leave
// P4  posted_at           relaxed  -      a statistic                               (floor)

#include <roost/base/atomic.hpp>
#include <roost/exec/executor.hpp>

namespace roost::inline ROOST_ABI::service::detail {

class liveness_probe final : private work {
public:
    [[nodiscard]] static liveness_probe& make(executor_ref where) { return *new liveness_probe(where); }
    // By the one who made it; the object is gone for the caller.
    void leave() noexcept;

    // Posts unless the last one has not run yet. By one thread.
    void probe(time_point now) noexcept;
    // Whether everything that was posted ran within `limit`, or may still do so. From any thread.
    [[nodiscard]] bool is_live(time_point now, duration limit) const noexcept;

private:
    enum class state : std::uint32_t { idle, posted, orphan };
    explicit liveness_probe(executor_ref where) noexcept : work(&ran), where_(where) {}
    static void ran(work& self) noexcept;

    executor_ref where_;
    atomic<state> state_{state::idle};
    atomic<std::int64_t> posted_at_{0};
    bool refused_ = false;
};

}  // namespace roost::inline ROOST_ABI::service::detail
