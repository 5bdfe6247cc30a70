#pragma once

// Posts to an executor from time to time, and checks whether the work ran in time.
//
// states   idle     nothing is posted; the prober may post
//          posted   the executor has it
//          orphan   the prober has left; the executor's thread frees it
//
//   idle --probe--> posted --run--> idle          posted --leave--> orphan --run--> freed
//
// id  operation           order            pairs  carries                                        fails in
// P1  run: CAS to idle    release/acquire  P2 P3  out: the executor's last touch; orphan: the    liveness_probe_model: run_vs_probe
//                                                 maker's                                        liveness_probe_model: run_vs_leave
// P2  probe: load         acquire          P1     in: the executor's last touch: it has its link  liveness_probe_model: run_vs_probe
// P3  leave: exchange     acq_rel          P1     who frees                                      liveness_probe_model: run_vs_leave
// P4  posted_at           relaxed          -      nothing: P5 carries it                         (floor)
// P5  posted: store       release          P7     when it was posted                             liveness_probe_model: look_while_probing
// P6  refused: store      relaxed          -      nothing: no other thread had it                (floor)
// P7  is_live: load       acquire          P5     as P5                                          liveness_probe_model: look_while_probing

#include <roost/base/atomic.hpp>
#include <roost/exec/executor.hpp>

namespace roost::inline ROOST_ABI::service::detail {

using namespace seam;

class liveness_probe final : private ext::work {
public:
    [[nodiscard]] static liveness_probe& make(executor_ref where) { return *new liveness_probe(where); }
    // Called by its maker, which must not use the object afterwards.
    void leave() noexcept;

    // Posts, unless the last post has not run yet. Called by one thread.
    void probe(time_point now) noexcept;
    // Returns true if everything posted ran within `limit`, or still can. Thread-safe.
    [[nodiscard]] bool is_live(time_point now, duration limit) const noexcept;

    static void* operator new(std::size_t size) { return allocate_frame(size); }
    static void operator delete(void* memory, std::size_t size) noexcept { deallocate_frame(memory, size); }

private:
    enum class state : std::uint32_t { idle, posted, orphan };
    explicit liveness_probe(executor_ref where) noexcept : ext::work(&ran), where_(where) {}
    static void ran(ext::work& self) noexcept;

    executor_ref where_;
    atomic<state> state_{state::idle};
    atomic<std::int64_t> posted_at_{0};
    bool refused_ = false;
};

}  // namespace roost::inline ROOST_ABI::service::detail
