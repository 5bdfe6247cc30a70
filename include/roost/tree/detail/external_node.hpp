#pragma once

#include <roost/base/atomic.hpp>
#include <roost/base/site.hpp>
#include <roost/tree/detail/node.hpp>
#include <roost/tree/node_name.hpp>
#include <roost/tree/visit.hpp>

#include <cstdint>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

// Cancel and completion compete for one claim. See src/tree/external_resource.cpp.
class external_node : public node {
public:
    [[nodiscard]] bool try_complete() noexcept;
    void fire() noexcept;           // cancel: runs on_cancel if it wins the claim
    void close_handle() noexcept;   // waits for on_cancel on another thread, gives back unit and reference

protected:
    using cancel_function = void (*)(external_node&);
    external_node(const node_functions& functions, node& parent, node_name name, site made_at, cancel_function on_cancel);
    ~external_node() = default;

    static void level_raised_entry(node& self, level now) noexcept;
    static void describe_entry(const node& self, node_description& d) noexcept;

private:
    cancel_function on_cancel_;
    atomic<std::uint32_t> state_{0};
};

template <class OnCancel>
class external_node_of final : public external_node {
public:
    template <class F>
    external_node_of(node& parent, node_name name, site made_at, F&& on_cancel)
        : external_node(
              functions_table, parent, name, made_at,
              +[](external_node& self) { static_cast<external_node_of&>(self).fn_(); }),
          fn_(std::forward<F>(on_cancel)) {}

private:
    static void destroy_entry(node& self) noexcept {
        auto& me = static_cast<external_node_of&>(self);
        me.~external_node_of();
        deallocate_frame(&me, sizeof(external_node_of));
    }
    static constexpr node_functions functions_table{
        .kind = "external resource",
        .destroy = &destroy_entry,
        .level_raised = &level_raised_entry,
        .describe = &describe_entry,
    };
    OnCancel fn_;
};

}  // namespace roost::inline ROOST_ABI::detail
