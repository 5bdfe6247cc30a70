#include <roost/flow/detail/group/fork_scope.hpp>

#include <roost/flow/detail/group/fork.hpp>
#include <roost/task/job.hpp>
#include <roost/tree/visit.hpp>

// How the scope of a group is made, described and ended.

namespace roost::inline ROOST_ABI::detail {

constinit const node_functions fork_scope::functions{.kind = "scope",
                                                     .destroy = destroy,
                                                     .level_raised = region::level_raised,
                                                     .drained = drained,
                                                     .describe = describe,
                                                     .clock = region::clock,
                                                     .is_idle = is_idle_node,
                                                     .own = own_work::none};

void fork_scope::describe(const node& self, node_description& d) noexcept {
    region::describe(self, d);
    d.left_out = static_cast<const fork_scope&>(static_cast<const region&>(self)).is_idle();
}

fork_scope& fork_scope::make(region& parent, node_name name, node_name child, site made_at, const scope_policy& policy) {
    auto* made = new fork_scope(parent, name, made_at, policy);
    if (made->attach(child_kind::working, admission::member) == attached::refused) {
        panic("scope", name.text(), made_at,
              "it was opened in a job that has ended already; open it while the job's body runs");
    }
    try {
        made->job_ = &fork_job::make(*made, child);
        made->job_->set_first();
    } catch (...) {
        made->close_and_leave();
        made->release();
        throw;
    }
    made->born_ = recent_time::stamp();
    return *made;
}

void fork_scope::end_idle(fork_scope& top) noexcept {
    fork_scope* s = &top;
    while (s->job_->spare() != nullptr) {
        s = s->job_->spare();
    }
    for (bool is_last = false; !is_last;) {
        is_last = s == &top;
        fork_scope* above = nullptr;
        if (!is_last) {
            fork_job* keeper = fork_job::of(static_cast<region&>(*s->parent()));
            static_cast<void>(keeper->take_spare());
            above = &keeper->scope();
        }
        s->job_->end_idle();
        if (!s->end_alone(1)) {
            s->close_and_leave();
            s->release();
        }
        s = above;
    }
}

bool fork_scope::drained(node& self) noexcept {
    fork_scope& mine = static_cast<fork_scope&>(static_cast<region&>(self));
    if (mine.group_ != nullptr) {
        mine.owner().post_then(mine.group_->when_drained());
    }
    return true;
}

}  // namespace roost::inline ROOST_ABI::detail
