#include <roost/task/detail/scope_core.hpp>

#include <roost/base/error.hpp>
#include <roost/task/failure_sink.hpp>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <string>

namespace roost::inline ROOST_ABI::detail {

const scope_policy fail_fast_policy(
    +[](scope_core& scope, job_core& child) noexcept {
        if (child.outcome_link().state() == ending::threw) {
            scope.fail(child.outcome_link().error());
        }
        for (const std::exception_ptr& other : child.suppressed()) {
            scope.fail(other);
        }
    },
    scope_policy::wants::failures);

const scope_policy root_policy(
    +[](scope_core&, job_core& child) noexcept {
        if (child.outcome_link().state() == ending::threw) {
            report_failure("job", child.name(), child.made_at(), child.outcome_link().error());
        }
        for (const std::exception_ptr& other : child.suppressed()) {
            report_failure("job", child.name(), child.made_at(), other);
        }
    },
    scope_policy::wants::failures);

constinit const scope_policy silent_policy(+[](scope_core&, job_core&) noexcept {}, scope_policy::wants::failures);

scope_core::scope_core(const node_functions& functions, region& parent, node_name name, site made_at,
                       const scope_policy& policy, executor_ref where)
    : guest_region(functions, parent, name, made_at, {}, parent.owner()),
      where_(where ? where : parent.owner().where()),
      policy_(&policy) {}

scope_core::scope_core(const node_functions& functions, executor_ref where, node_name name, site made_at,
                       const scope_policy& policy)
    : guest_region(functions, name, made_at), where_(where), policy_(&policy) {}

scope_core::scope_core(const node_functions& functions, node& parent, executor_ref where, node_name name, site made_at,
                       const scope_policy& policy)
    : guest_region(functions, parent, name, made_at), where_(where), policy_(&policy) {}

bool scope_core::has_caller_inside() const noexcept {
    const body* const running = is_closed() ? nullptr : body::current();
    const node* n = running == nullptr ? nullptr : static_cast<const job_core*>(running);
    while (n != nullptr && n != this) {
        n = n->parent();
    }
    return n != nullptr;
}

void scope_core::refuse_wait_from_inside() const {
    if (has_caller_inside()) {
        throw error(errc::would_deadlock, "job '" + std::string(static_cast<const job_core*>(body::current())->name()) +
                                              "' waits for the end of scope '" + std::string(name()) +
                                              "', in which it runs itself");
    }
}

bool scope_core::enter_as(admission as) noexcept {
    if (as == admission::outsider && try_enter()) {
        return true;
    }
    const bool is_member = as == admission::member ? !is_closed() : has_caller_inside();
    if (is_member) {
        enter();
    }
    return is_member;
}

bool attach_from_inside(job_core& child) noexcept {
    return child.parent_scope().has_caller_inside() &&
           child.attach(child_kind::working, admission::member) != attached::refused;
}

void discard_refused(job_core& block, promise_base& frame) noexcept {
    block.discard();
    frame.handle().destroy();
}

void scope_core::fail(const std::exception_ptr& error) noexcept {
    if (keep(error)) {
        cancel(reason::plain_kind(reason_kind::failure));
    }
}

namespace {

// What it refers to: an exception_ptr is a pointer, compares as one, and has no hash.
const void* object_of(const std::exception_ptr& error) noexcept {
    const void* object = nullptr;
    static_assert(sizeof(error) == sizeof(object));
    std::memcpy(static_cast<void*>(&object), static_cast<const void*>(&error), sizeof(object));
    return object;
}

}  // namespace

bool further_failures::add(const std::exception_ptr& error) {
    constexpr std::size_t few = 32;
    if (all_.size() < few) {
        if (std::find(all_.begin(), all_.end(), error) != all_.end()) {
            return false;
        }
        all_.push_back(error);
        return true;
    }
    if (known_.empty()) {
        for (const std::exception_ptr& e : all_) {
            known_.insert(object_of(e));
        }
    }
    if (!known_.insert(object_of(error)).second) {
        return false;
    }
    try {
        all_.push_back(error);
    } catch (...) {
        known_.erase(object_of(error));
        throw;
    }
    return true;
}

bool scope_core::keep(const std::exception_ptr& error) noexcept {
    bool is_first = false;
    bool kept = true;
    {
        const std::lock_guard guard(failures_lock_);
        if (!first_) {
            first_ = error;
            is_first = true;
        } else if (error != first_) {
            try {
                if (!others_) {
                    others_ = std::make_unique<further_failures>();
                }
                others_->add(error);
            } catch (const std::bad_alloc&) {
                kept = false;
            }
        }
    }
    if (!kept) {
        report_failure("a further child of scope", name(), made_at(), error);
    }
    return is_first;
}

std::exception_ptr scope_core::first_failure() const noexcept {
    const std::lock_guard guard(failures_lock_);
    return first_;
}

std::vector<std::exception_ptr> scope_core::take_other_failures() noexcept {
    const std::lock_guard guard(failures_lock_);
    const std::unique_ptr<further_failures> taken = std::move(others_);
    return taken ? std::move(taken->all()) : std::vector<std::exception_ptr>();
}

}  // namespace roost::inline ROOST_ABI::detail
