#pragma once

#include <roost/tree/detail/node.hpp>

#include <functional>
#include <new>

// A view for models: what it is told is kept in memory that the explorer watches.

namespace model_node {

struct probe : roost::detail::node {
    roost::seam::atomic<std::uint32_t> raised{0};      // two levels may be told at the same time
    roost::seam::plain<int> drained_count{0};  // a closing node drains once; crossings of a watched one may overlap
    roost::seam::atomic<std::uint32_t> crossings{0};
    std::function<void()> on_drained;
    std::function<void(roost::level)> on_raised;

    using node::leave_unmixed;
    using node::observe_level;
    using node::try_enter_own;
    [[nodiscard]] std::uint32_t raised_count() const { return raised.load(roost::seam::mo::relaxed); }

    static void destroy(roost::detail::node& n) noexcept {
        auto& self = static_cast<probe&>(n);
        self.~probe();
        roost::seam::deallocate_frame(&self, sizeof(probe));
    }
    static void level_raised(roost::detail::node& n, roost::level now) noexcept {
        auto& self = static_cast<probe&>(n);
        self.raised.fetch_add(1, roost::seam::mo::relaxed);
        if (self.on_raised) {
            self.on_raised(now);
        }
    }
    static bool drained(roost::detail::node& n) noexcept {
        auto& self = static_cast<probe&>(n);
        if (self.on_drained) {
            self.on_drained();  // first: is_closing() would acquire what the last unit has to have acquired
        }
        self.crossings.fetch_add(1, roost::seam::mo::relaxed);
        if (self.is_closing()) {
            self.drained_count.set(self.drained_count.get() + 1);
        }
        return true;
    }
    static constexpr roost::detail::node_functions table{
        .kind = "probe", .destroy = &destroy, .level_raised = &level_raised, .drained = &drained};
    static constexpr roost::detail::node_functions quiet{.kind = "quiet", .destroy = &destroy};

    explicit probe(const roost::detail::node_functions& f) : node(f, "root", roost::site()) {}
    probe(const roost::detail::node_functions& f, roost::detail::node& up, roost::detail::node_shape shape)
        : node(f, up, "child", roost::site(), shape) {}
};

using ref = roost::detail::node_ref<probe>;

inline ref make_root(const roost::detail::node_functions& f = probe::table) {
    return ref::adopt(::new (roost::seam::allocate_frame(sizeof(probe))) probe(f));
}

inline ref make_child(roost::detail::node& up, roost::detail::child_kind kind = roost::detail::child_kind::idle,
                      const roost::detail::node_functions& f = probe::table, roost::detail::node_shape shape = {}) {
    auto* made = ::new (roost::seam::allocate_frame(sizeof(probe))) probe(f, up, shape);
    if (made->attach(kind) == roost::detail::attached::refused) {
        made->discard();
        return {};
    }
    return ref::adopt(made);
}

}  // namespace model_node
