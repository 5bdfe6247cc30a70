#include <roost/flow/detail/group/fork_job.hpp>

#include <roost/flow/detail/group/fork_scope.hpp>
#include <roost/task/job.hpp>
#include <roost/tree/visit.hpp>

// How the jobs of a group are made, described and ended.

namespace roost::inline ROOST_ABI::detail {

constinit const link_ops fork_job::root_ops{never_done};
constinit const job_functions fork_job::functions{
    {.kind = "job",
     .destroy = destroy,
     .level_raised = job_core::level_raised,
     .drained = job_core::drained,
     .describe = describe,
     .clock = region::clock,
     .own = own_work::body},
    (sizeof(job_core) + alignof(result_link<void>) - 1) / alignof(result_link<void>) * alignof(result_link<void>)};

fork_job::fork_job(fork_scope& in, node_name name)
    : job_core(functions, in, name, in.made_at()), result_link<void>(&root_ops) {
    ROOST_ASSERT(&this->outcome_link() == static_cast<settled_link*>(this), "the outcome is not where it should be");
}

fork_scope& fork_job::scope() const noexcept { return static_cast<fork_scope&>(parent_scope()); }

void fork_job::destroy(node& self) noexcept { delete &static_cast<fork_job&>(static_cast<region&>(self)); }

next_step fork_job::never_done(await_link&, ending, reason&) noexcept {
    panic("a child of a group ended in its job instead of in the group");
}

void fork_job::describe(const node& self, node_description& d) noexcept {
    const auto& mine = static_cast<const fork_job&>(static_cast<const region&>(self));
    job_core::describe_job(self, d);
    d.left_out = mine.scope().is_idle();
}

fork_job& fork_job::make(fork_scope& in, node_name name) {
    auto* made = new fork_job(in, name);
    if (made->attach(child_kind::working, admission::member) == attached::refused) {
        panic("scope", in.name(), in.made_at(),
              "a child was started in a group that has ended already; only the group itself starts children");
    }
    made->release();
    return *made;
}

void fork_job::end(ending how, const settled_link& child, reason& why) noexcept {
    if (fork_scope* kept = take_spare()) {
        fork_scope::end_idle(*kept);
    }
    if (how == ending::threw) {
        result_link<void>::fail(child.error());
    } else if (how == ending::cancelled) {
        settle_cancelled(is_cancelled() ? job_core::why() : std::move(why));
    } else {
        emplace();
    }
    end_body();
}

void fork_job::end_idle() noexcept {
    if (!end_alone(0)) {
        emplace();
        end_body();
    }
}

}  // namespace roost::inline ROOST_ABI::detail
