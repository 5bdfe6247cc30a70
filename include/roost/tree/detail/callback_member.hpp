#pragma once

#include <roost/tree/detail/node.hpp>

// Runs a function once when a node's effective level reaches a bound. This is the part in the node's list; tree/callback.hpp
// has the API.

namespace roost::inline ROOST_ABI::detail {

class callback_member : public member {
public:
    using run_function = void (*)(callback_member&) noexcept;

    // Not registered yet.
    constexpr callback_member(level at, run_function run) noexcept : member(member_kind::callback), at_(at), run_(run) {}

    // Registers it. If the level is reached already, calls run before it returns. The caller keeps the node's memory alive
    // until remove() has returned.
    void add(node& to) noexcept;
    // Calls run if the level has been reached and no walk has called it yet.
    void run_if_reached() noexcept;
    // When this returns, run is neither running on another thread nor ever called again. Called from inside run itself it
    // returns at once, and the object may be destroyed there. Returns true if run was not and will not be called.
    bool remove() noexcept;

    // Called by walkers, under the owner's lock. Returns true if the caller is to run this one for a raise to l.
    [[nodiscard]] bool claim(level l, std::uint32_t runner) noexcept;
    // Called by the thread that claimed it, with no lock held. Returns false if the object is gone.
    [[nodiscard]] bool fire() noexcept;
    // Called then, under the owner's lock again. Afterwards the object may be gone.
    void finish() noexcept;

protected:
    // Read by run functions before they call out: becomes true if the object is destroyed meanwhile.
    [[nodiscard]] const bool* gone_flag() const noexcept { return gone_; }

private:
    [[nodiscard]] bool claim_reached(node& of) noexcept;
    void run_claimed(node& of) noexcept;
    enum : std::uint32_t { idle = 0, listed = 1, running = 2, done = 3, awaited = 4 };

    const level at_;
    atomic<std::uint32_t> state_{idle};
    std::uint32_t runner_ = 0;  // thread_index() of the running thread; written before `running` is visible to others
    bool* gone_ = nullptr;  // on the runner's stack: set when run destroyed the object
    run_function run_;
    node* owner_ = nullptr;
};

// What happens if an inline callback is destroyed after its level was reached and before the raise has called it.
enum class if_reached : unsigned char { runs, is_skipped };

// Called in a catch block. Sends the exception to the failure sink, with the node's name and site if the node is known.
void report_thrown(const char* what, const node* at) noexcept;

}  // namespace roost::inline ROOST_ABI::detail
