#pragma once

// The signals of run_until_signal(...).

#include <roost/tree/detail/node.hpp>

#include <memory>

namespace roost::inline ROOST_ABI::detail {

// Cancels a tree on SIGINT or SIGTERM.
class signal_canceller {
public:
    signal_canceller();
    ~signal_canceller();
    signal_canceller(const signal_canceller&) = delete;
    signal_canceller& operator=(const signal_canceller&) = delete;

    // Cancels root at the first signal, at once if one has arrived already. Called once.
    void cancels(const node_ref<node>& root) noexcept;
    // Returns the signal that cancelled, or 0. Called after the tree has ended.
    [[nodiscard]] int number() const noexcept;

private:
    class target;
    std::shared_ptr<target> target_;
};

}  // namespace roost::inline ROOST_ABI::detail
