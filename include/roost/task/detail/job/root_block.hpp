#pragma once

// The node of a scope that belongs to an object, with the event that its end sets: an owned scope, or the root scope that block_on()
// and run() make for their task.

#include <roost/sync/event.hpp>
#include <roost/task/detail/job/scope_core.hpp>
#include <roost/tree/detail/raise_turn.hpp>

namespace roost::inline ROOST_ABI::detail {

class root_block final : public scope_core {
public:
    root_block(executor_ref where, node_name name, site made_at, const scope_policy& policy);
    // Makes the node of an owned_scope without a parent.
    [[nodiscard]] static root_block* owned(executor_ref where, node_name name, site made_at, const scope_policy& policy);
    // Makes the node of an owned_scope below a node that no body runs in. Throws error(errc::closed) if that node is closed.
    [[nodiscard]] static root_block* below(node& parent, executor_ref where, node_name name, site made_at,
                                           const scope_policy& policy);

    // Called before a thread blocks until the scope has ended. Ends the program in any job, and on a thread that runs the work
    // of `where`, unless the scope has ended already.
    void refuse_to_block(std::string_view call, executor_ref where) const noexcept;

    static void level_raised(node& self, level now) noexcept;

    static void* operator new(std::size_t size) { return allocate_frame(size); }
    static void operator delete(void* memory, std::size_t size) noexcept { deallocate_frame(memory, size); }

    event ended;  // closed, and nothing is left below
    // For the bodies that close the scope and are cancelled meanwhile.
    raise_turn cancel_turn;
    raise_turn abort_turn;

private:
    root_block(const node_functions& kind, executor_ref where, node_name name, site made_at, const scope_policy& policy);
    root_block(node& parent, executor_ref where, node_name name, site made_at, const scope_policy& policy);
    static void destroy(node& self) noexcept { delete &static_cast<root_block&>(static_cast<region&>(self)); }
    static bool drained(node& self) noexcept;
    static const node_functions root_functions;
    static const node_functions owned_functions;
};

}  // namespace roost::inline ROOST_ABI::detail
