#pragma once

// A region with a deadline of its own that can be moved: cancelled with the reason `timeout` when it passes, by its timer or by
// a body inside that looks at the clock (task/detail/frame/give_way.hpp).
//
// Why it is not simpler: any thread may move the deadline while the timer fires and while the body leaves. Whether it has
// passed is decided under the node's lock, in own_deadline. The one timer follows that: a thread that changed the deadline or
// ended it counts itself in; the first one moves the timer, without a lock, because disarming waits for a timer that fires;
// the others leave that to the first, which looks again. A thread that moves holds a unit of work, so the executor and its
// timers are there; the timer is part of the node, so the body may leave meanwhile.
//
// changes_ how many threads have changed the deadline since the timer was last set; not 0: one of them sets it
// fields   armed_, timer     the thread that sets it
// I1       changes_ == 0: the timer is armed for the deadline, or that has passed or ended
//
// id  operation             order            pairs  carries                                               fails in
// M1  a change: fetch_add   acq_rel          M2     in: the timer as the last one left it; out: the change  limit_region_model: two_moves
// M2  set, look again: CAS  release/acquire  M1     out: the timer; in: the change                          limit_region_model: two_moves

#include <roost/task/detail/job/region.hpp>
#include <roost/task/sleep.hpp>
#include <roost/tree/detail/deadline.hpp>

#include <optional>

namespace roost::inline ROOST_ABI::detail {

class limit_region final : public guest_region, private timer {
public:
    enum class passed : unsigned char { no, yes, cut_short };

    // Throws std::bad_alloc. The caller holds a reference and the one unit of work. Null when the timers are closed.
    [[nodiscard]] static limit_region* make(promise_base& from, site made_at, time_point at);
    // The body is out: gives both back. Returns whether the region is cancelled: if the one around it is not, its own deadline
    // did that. Cut short: a scope in it was waiting for its children then.
    passed leave_for_good() noexcept;

    // The innermost one around `inner`, up to the nearest shield. Null: none.
    [[nodiscard]] static limit_region* around(region& inner) noexcept;

    // From any thread that holds a reference. Returns false if it has passed or the body is out.
    bool move(const deadline_change& to) noexcept;
    [[nodiscard]] time_point own() const noexcept { return deadline_->at(); }
    [[nodiscard]] bool has_passed() const noexcept { return deadline_->has_passed(); }
    [[nodiscard]] duration remaining() noexcept;

    static void* operator new(std::size_t size) { return allocate_frame(size); }
    static void operator delete(void* memory, std::size_t size) noexcept { deallocate_frame(memory, size); }

private:
    limit_region(region& parent, site made_at, timer_service& timers)
        : guest_region(functions, parent, "deadline", made_at, {}, parent.owner()), timer(fired), service_(&timers) {}
    ~limit_region() = default;

    void set_timer() noexcept;
    void follow_deadline() noexcept;
    void time_out() noexcept { cancel(reason::plain_kind(reason_kind::timeout)); }
    void give_back() noexcept;

    static void fired(timer& self) noexcept;
    static void destroy(node& self) noexcept { delete &static_cast<limit_region&>(static_cast<region&>(self)); }
    static const node_functions functions;

    timer_service* const service_;
    std::optional<own_deadline> deadline_;  // constant from make() on
    atomic<std::uint32_t> changes_{0};
    plain<bool> armed_{false};
};

// What a frame keeps of the region it has entered.
class deadline_region {
public:
    using passed = limit_region::passed;
    deadline_region() noexcept = default;
    deadline_region(const deadline_region&) = delete;
    deadline_region& operator=(const deadline_region&) = delete;
    ~deadline_region() { ROOST_ASSERT(region_ == nullptr, "a deadline was destroyed inside its own body"); }

    // Throws std::bad_alloc. False when the timers are closed.
    [[nodiscard]] bool enter(promise_base& from, site made_at, time_point at) {
        region_ = limit_region::make(from, made_at, at);
        return region_ != nullptr;
    }
    passed leave() noexcept { return std::exchange(region_, nullptr)->leave_for_good(); }
    [[nodiscard]] region& inside() const noexcept { return *region_; }

private:
    limit_region* region_ = nullptr;
};

}  // namespace roost::inline ROOST_ABI::detail
