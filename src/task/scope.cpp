// Orders C1 and C2: task/detail/job/scope_await.hpp.

#include <roost/task/detail/job/scope_await.hpp>

namespace roost::inline ROOST_ABI::detail {

constinit const node_functions scope_block::functions{.kind = "scope",
                                                      .destroy = destroy,
                                                      .level_raised = region::level_raised,
                                                      .drained = drained,
                                                      .describe = region::describe,
                                                      .clock = region::clock,
                                                      .own = own_work::none};

scope_block& scope_block::make(region& parent, node_name name, site made_at, const scope_policy& policy,
                               executor_ref where) {
    auto* made = new scope_block(parent, name, made_at, policy, where);
    if (made->attach(child_kind::working, admission::member) == attached::refused) {
        panic("scope", name.text(), made_at,
              "it was opened in a job that has ended already; open it while the job's body runs");
    }
    return *made;
}

// A daemon scope holds a reference, so a scope with daemons is not alone.
bool scope_block::end_quietly() noexcept { return is_alone(1) && !has_failed() && !has_lost_child() && end_alone(1); }

bool scope_block::join(continuation& next) noexcept {
    next_.set(&next);
    close_and_leave();
    return stage_.exchange(stage::waiting, mo::acq_rel) == stage::empty;  // C1
}

bool scope_block::drained(node& self) noexcept {
    scope_block& block = static_cast<scope_block&>(static_cast<region&>(self));
    if (block.has_daemons() && block.hold_for_daemons()) [[unlikely]] {
        return false;
    }
    job_core& owner = block.owner();
    if (block.stage_.exchange(stage::empty, mo::acq_rel) == stage::waiting) {  // C2
        owner.post_then(*block.next_.get());
    }
    return true;
}

}  // namespace roost::inline ROOST_ABI::detail
