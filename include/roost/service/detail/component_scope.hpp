#pragma once

// The scope of a component, and the receiver of its failures.

#include <roost/service/detail/forward.hpp>
#include <roost/task/scope.hpp>

#include <exception>

namespace roost::inline ROOST_ABI::service::detail {

// Receives the failures of components that are not optional. Thread-safe.
class component_failures {
public:
    virtual void component_failed(const component& which, const std::exception_ptr& error) noexcept = 0;

protected:
    ~component_failures() = default;
};

// The node behind component::jobs(): a child of the component's node, with no work of its own.
class component_scope final : public roost::detail::scope_core {
public:
    [[nodiscard]] static roost::detail::node_ref<component_scope> make(component& owner, roost::detail::node& parent,
                                                                       executor_ref where, site made_at);
    [[nodiscard]] component& owner() const noexcept { return owner_; }

private:
    component_scope(component& owner, roost::detail::node& parent, executor_ref where, site made_at);
    static void destroy(roost::detail::node& self) noexcept;
    static bool drained(roost::detail::node& self) noexcept;
    static const roost::detail::node_functions functions;
    static const roost::detail::scope_policy policy;
    component& owner_;
};

class component_jobs final : public scope {
public:
    explicit component_jobs(component_scope& core) noexcept : scope(core) {}
};

}  // namespace roost::inline ROOST_ABI::service::detail
