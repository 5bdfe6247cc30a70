#pragma once

#include <roost/tree/detail/node.hpp>

#include <new>
#include <vector>

// A view that records what the tree tells it.

namespace tree_support {

struct probe : roost::detail::node {
    int raised_count = 0;
    roost::level raised_to = roost::level::running;
    int drained_count = 0;
    bool postpone = false;
    int* destroyed = nullptr;
    using node::observe_level;

    static void destroy(roost::detail::node& n) noexcept {
        auto& self = static_cast<probe&>(n);
        if (self.destroyed != nullptr) {
            ++*self.destroyed;
        }
        self.~probe();
        roost::seam::deallocate_frame(&self, sizeof(probe));
    }
    static void level_raised(roost::detail::node& n, roost::level now) noexcept {
        auto& self = static_cast<probe&>(n);
        ++self.raised_count;
        self.raised_to = now;
    }
    static bool drained(roost::detail::node& n) noexcept {
        auto& self = static_cast<probe&>(n);
        ++self.drained_count;
        return !self.postpone;
    }

    static constexpr roost::detail::node_functions loud{
        .kind = "probe", .destroy = &destroy, .level_raised = &level_raised, .drained = &drained};
    // Told nothing: what a bare token of a tree costs.
    static constexpr roost::detail::node_functions quiet{.kind = "quiet", .destroy = &destroy};

    probe(const roost::detail::node_functions& f, roost::node_name name, roost::detail::node_shape shape = {})
        : node(f, name, roost::site::here(), shape) {}
    probe(const roost::detail::node_functions& f, roost::detail::node& up, roost::node_name name,
          roost::detail::node_shape shape = {})
        : node(f, up, name, roost::site::here(), shape) {}
};

using ref = roost::detail::node_ref<probe>;

inline ref make_root(roost::node_name name = "root", const roost::detail::node_functions& f = probe::loud,
                     roost::detail::node_shape shape = {}) {
    void* memory = roost::seam::allocate_frame(sizeof(probe));
    try {
        return ref::adopt(::new (memory) probe(f, name, shape));
    } catch (...) {
        roost::seam::deallocate_frame(memory, sizeof(probe));
        throw;
    }
}

// Empty when refused.
inline ref make_child(roost::detail::node& up, roost::node_name name = "child",
                      roost::detail::child_kind kind = roost::detail::child_kind::idle,
                      roost::detail::admission as = roost::detail::admission::outsider,
                      const roost::detail::node_functions& f = probe::loud, roost::detail::node_shape shape = {}) {
    void* memory = roost::seam::allocate_frame(sizeof(probe));
    probe* made = nullptr;
    try {
        made = ::new (memory) probe(f, up, name, shape);
    } catch (...) {
        roost::seam::deallocate_frame(memory, sizeof(probe));
        throw;
    }
    if (made->attach(kind, as) == roost::detail::attached::refused) {
        made->discard();
        return {};
    }
    return ref::adopt(made);
}

inline ref make_shield(roost::detail::node& up) {
    return make_child(up, "shield", roost::detail::child_kind::idle, roost::detail::admission::outsider, probe::loud,
                      {.shield = true});
}

inline ref make_quiet(roost::detail::node& up) {
    return make_child(up, "quiet", roost::detail::child_kind::idle, roost::detail::admission::outsider, probe::quiet);
}

}  // namespace tree_support
