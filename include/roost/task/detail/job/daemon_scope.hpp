#pragma once

// Where the daemons of a scope run: a scope of their own beside it, made with the first of them.
//
//   parent ── scope S        the body and the ordinary children
//          └─ daemon scope D
//
// S drains ──> D is cancelled and closed ──> D drains ──> S has ended
//
// D has one unit of its own until S has drained. A level of the parent reaches both. D keeps S in memory. An owned scope may stay
// open after a cancel, so it passes cancel and abort on to D at once.

#include <roost/task/detail/job/scope_core.hpp>
#include <roost/tree/detail/raise_turn.hpp>

namespace roost::inline ROOST_ABI::detail {

class daemon_scope final : public scope_core {
public:
    [[nodiscard]] static daemon_scope* make(scope_core& of);

    // Ends a daemon scope that no daemon ever ran in, without S.
    void abandon() noexcept;

    // For S, which is being raised.
    void raise_in_turn(level to, reason why) noexcept;

    // The scope whose end cancels the daemons.
    [[nodiscard]] scope_core& of() const noexcept { return *of_; }
    // Returns the daemon scope that `n` is, or null.
    [[nodiscard]] static const daemon_scope* from(const node& n) noexcept;

    static void* operator new(std::size_t size) { return allocate_frame(size); }
    static void operator delete(void* memory, std::size_t size) noexcept { deallocate_frame(memory, size); }

private:
    explicit daemon_scope(scope_core& of);
    daemon_scope(scope_core& of, node& parent);
    static void destroy(node& self) noexcept { delete &static_cast<daemon_scope&>(static_cast<region&>(self)); }
    static bool drained(node& self) noexcept;
    static const node_functions functions;
    // Handles a daemon's end as that of one of S's children.
    static void daemon_ended(scope_core& scope, job_core& child) noexcept;
    // Returns the policy that calls S's policy as often as S's children do.
    [[nodiscard]] static const scope_policy& policy_for(const scope_core& of) noexcept;

    node_ref<scope_core> of_;
    raise_turn cancel_turn_;
    raise_turn abort_turn_;
};

}  // namespace roost::inline ROOST_ABI::detail
