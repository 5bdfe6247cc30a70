#include <roost/task/detail/job/daemon_scope.hpp>

#include <roost/task/detail/job/root_block.hpp>

#include <mutex>

namespace roost::inline ROOST_ABI::detail {

constinit const node_functions daemon_scope::functions{
    .kind = "scope", .destroy = destroy, .level_raised = nullptr, .drained = drained, .own = own_work::none};

void daemon_scope::daemon_ended(scope_core& scope, job_core& child) noexcept {
    scope_core& of = static_cast<daemon_scope&>(scope).of();
    of.policy().child_ended(of, child);
}

const scope_policy& daemon_scope::policy_for(const scope_core& of) noexcept {
    static constinit const scope_policy every_end(daemon_ended);
    static constinit const scope_policy failures(daemon_ended, scope_policy::wants::failures);
    return of.policy().only_failures() ? failures : every_end;
}

daemon_scope::daemon_scope(scope_core& of)
    : scope_core(functions, of.executor(), "daemons", of.made_at(), policy_for(of)), of_(node_ref<scope_core>::share(of)) {}
daemon_scope::daemon_scope(scope_core& of, node& parent)
    : scope_core(functions, parent, of.executor(), "daemons", of.made_at(), policy_for(of)),
      of_(node_ref<scope_core>::share(of)) {}

daemon_scope* daemon_scope::make(scope_core& of) {
    if (of.parent() == nullptr) {
        auto* made = new daemon_scope(of);
        made->enter();
        return made;
    }
    auto* made = new daemon_scope(of, *of.parent());
    if (made->attach(child_kind::working, admission::member) == attached::refused) {
        made->discard();
        return nullptr;
    }
    return made;
}

const daemon_scope* daemon_scope::from(const node& n) noexcept {
    return &n.functions() == &functions ? &static_cast<const daemon_scope&>(static_cast<const region&>(n)) : nullptr;
}

// S waits for this: its own drained() runs once more, and finds no daemons.
bool daemon_scope::drained(node& self) noexcept {
    const node_ref<scope_core>& held = static_cast<daemon_scope&>(static_cast<region&>(self)).of_;
    if (!held) {
        return true;  // abandoned
    }
    scope_core& of = *held;
    if (of.functions().drained(of)) {
        of.finish_drain();
    }
    return true;
}

void daemon_scope::abandon() noexcept {
    of_ = {};
    close_and_leave();
    release();
}

void daemon_scope::raise_in_turn(level to, reason why) noexcept {
    (to == level::abort ? abort_turn_ : cancel_turn_).raise(*this, to, std::move(why));
}

bool scope_core::admits(admission as) const noexcept {
    return !is_closed() && (as == admission::member || !is_closing() || has_caller_inside());
}

// Shared under the lock: the scope drops its own reference when it ends.
node_ref<scope_core> scope_core::daemons() const noexcept {
    const std::lock_guard guard(rare_lock_);
    return daemons_ == nullptr ? node_ref<scope_core>() : node_ref<scope_core>::share(*daemons_);
}

void scope_core::raise_daemons(level to) noexcept {
    if (const node_ref<scope_core> held = daemons()) {
        static_cast<daemon_scope&>(*held).raise_in_turn(to, node::why(to));
    }
}

node_ref<scope_core> scope_core::daemons_for(admission as) {
    if (!admits(as)) {
        return {};
    }
    {
        const std::lock_guard guard(rare_lock_);
        if (has_ended_daemons_) {
            return {};
        }
        if (daemons_ != nullptr) {
            return node_ref<scope_core>::share(*daemons_);
        }
    }
    daemon_scope* made = daemon_scope::make(*this);
    {
        const std::lock_guard guard(rare_lock_);
        if (daemons_ == nullptr && !has_ended_daemons_) {
            daemons_ = std::exchange(made, nullptr);
        }
    }
    if (made != nullptr) {  // another thread was faster, or the scope has ended
        made->abandon();
    }
    // An owned scope may have been raised before it had daemons.
    if (is_cancelled() && functions().level_raised == root_block::level_raised) {
        raise_daemons(level_now());
    }
    return daemons();
}

bool scope_core::hold_for_daemons() noexcept {
    scope_core* daemons = nullptr;
    {
        const std::lock_guard guard(rare_lock_);
        has_ended_daemons_ = true;
        daemons = std::exchange(daemons_, nullptr);
    }
    if (daemons == nullptr) {
        return false;
    }
    daemons->node::cancel(reason::plain_kind(reason_kind::closed));
    daemons->close_and_leave();
    daemons->release();
    return true;
}

}  // namespace roost::inline ROOST_ABI::detail
