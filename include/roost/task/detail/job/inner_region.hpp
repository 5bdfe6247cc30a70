#pragma once

// A region that a body enters and leaves without children of its own: a shield. A deadline has a kind of its own
// (task/detail/job/limit_region.hpp).

#include <roost/task/detail/job/region.hpp>
#include <roost/task/sleep.hpp>
#include <roost/tree/detail/deadline.hpp>
#include <roost/tree/detail/passing_callback.hpp>
#include <roost/tree/detail/raise_turn.hpp>

#include <optional>

namespace roost::inline ROOST_ABI::detail {

class inner_region final : public guest_region {
public:
    // The caller holds a reference and the one unit of work.
    [[nodiscard]] static inner_region& make(region& parent, node_name name, site made_at, node_shape shape);
    // Gives back the reference and the unit.
    void leave_for_good() noexcept;
    // Called by a callback, once: see tree/detail/raise_turn.hpp.
    void cancel_in_turn(reason why) noexcept { turn_.raise(*this, level::cancel, std::move(why)); }

    static void* operator new(std::size_t size) { return allocate_frame(size); }
    static void operator delete(void* memory, std::size_t size) noexcept { deallocate_frame(memory, size); }

private:
    inner_region(region& parent, node_name name, site made_at, node_shape shape)
        : guest_region(functions, parent, name, made_at, shape, parent.owner()) {}
    static void destroy(node& self) noexcept { delete &static_cast<inner_region&>(static_cast<region&>(self)); }
    static const node_functions functions;
    raise_turn turn_;
};

// A region that delays a cancel of the outer one until the budget is spent.
//
// id  operation             order    pairs  carries                                               fails in
// B1  both: fetch_or        acq_rel  B1     the second of the two facts cancels                   inner_region_model: budget_vs_cancel
class shield_region : private timer {
public:
    shield_region() noexcept : timer(spent) {}
    ~shield_region() { ROOST_ASSERT(region_ == nullptr, "a shield was destroyed inside its own body"); }

    // Throws std::bad_alloc.
    void enter(region& outer, timer_service* timers, site made_at, duration budget);
    void leave() noexcept;
    [[nodiscard]] region& inside() const noexcept { return *region_; }

private:
    class outer_cancelled {
    public:
        explicit outer_cancelled(shield_region& s) noexcept : shield_(&s) {}
        void operator()() const noexcept { shield_->note(cancelled_bit); }

    private:
        shield_region* shield_;
    };
    static void spent(timer& self) noexcept;
    void note(std::uint32_t fact) noexcept;

    static constexpr std::uint32_t cancelled_bit = 1;
    static constexpr std::uint32_t spent_bit = 2;

    region* outer_ = nullptr;
    timer_service* service_ = nullptr;
    inner_region* region_ = nullptr;
    std::optional<own_deadline> deadline_;
    std::optional<passing_callback<outer_cancelled>> callback_;
    atomic<std::uint32_t> facts_{0};
};

}  // namespace roost::inline ROOST_ABI::detail
