#pragma once

#include <roost/tree/node.hpp>

// Something that wants to run once when a node's effective level reaches a bound. The part that lives in the node's list;
// tree/callback.hpp has what users see.

namespace roost::inline ROOST_ABI::detail {

class callback_member : public member {
public:
    using run_function = void (*)(callback_member&) noexcept;

    // Not registered yet.
    constexpr callback_member(level at, run_function run) noexcept : member(member_kind::callback), at_(at), run_(run) {}

    // Registers; when the level is reached already, run is called here, before this returns. The caller keeps the node's
    // memory alive until remove() has returned.
    void add(node& to) noexcept;
    // Calls run here if the level has been reached and no walk has come by yet.
    void run_if_reached() noexcept;
    // After this, run is neither running on another thread nor ever called again. From inside run itself it returns at once,
    // and the object may be destroyed there. True: run was not and will not be called.
    bool remove() noexcept;

    // For walkers, under the owner's lock: true when this one is to be run for a raise to l, by whoever asked.
    [[nodiscard]] bool claim(level l, std::uint32_t runner) noexcept;
    // For whoever claimed it, with no lock held. False: the object is gone.
    [[nodiscard]] bool fire() noexcept;
    // Then, under the owner's lock again. Afterwards the object may be gone.
    void finish() noexcept;

protected:
    // For run functions, before they call out: becomes true when the object is destroyed meanwhile.
    [[nodiscard]] const bool* gone_flag() const noexcept { return gone_; }

private:
    [[nodiscard]] bool claim_reached(node& of) noexcept;
    void run_claimed(node& of) noexcept;
    enum : std::uint32_t { idle = 0, listed = 1, running = 2, done = 3, awaited = 4 };

    const level at_;
    atomic<std::uint32_t> state_{idle};
    std::uint32_t runner_ = 0;  // thread_index() of who runs it; written before `running` is visible to others
    bool* gone_ = nullptr;  // on the runner's stack: set when run destroyed the object
    run_function run_;
    node* owner_ = nullptr;
};

}  // namespace roost::inline ROOST_ABI::detail
