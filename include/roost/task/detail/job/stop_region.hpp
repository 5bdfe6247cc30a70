#pragma once

// The region of until_stop(...).

#include <roost/base/assert.hpp>
#include <roost/task/detail/frame/promise_base.hpp>
#include <roost/task/detail/job/inner_region.hpp>
#include <roost/tree/detail/passing_callback.hpp>
#include <roost/tree/token.hpp>

#include <optional>

namespace roost::inline ROOST_ABI::detail {

// A region that is cancelled when a node that is not its ancestor is asked to stop.
class stop_region {
public:
    ~stop_region() { ROOST_ASSERT(region_ == nullptr, "an interrupted task was destroyed inside its own body"); }

    // Throws std::bad_alloc.
    void enter(promise_base& from, const token& watched, site made_at);
    // Called when the body has ended. When it returns, no thread that raises the watched node is inside this object.
    void leave() noexcept;
    [[nodiscard]] region& inside() const noexcept { return *region_; }

private:
    class stop_came {
    public:
        explicit stop_came(stop_region& r) noexcept : region_(&r) {}
        void operator()() const noexcept;

    private:
        stop_region* region_;
    };

    inner_region* region_ = nullptr;
    std::optional<passing_callback<stop_came>> callback_;
};

}  // namespace roost::inline ROOST_ABI::detail
