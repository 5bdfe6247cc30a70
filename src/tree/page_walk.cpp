#include <roost/tree/detail/page_walk.hpp>

#include <roost/tree/detail/walker.hpp>

#include <mutex>

namespace roost::inline ROOST_ABI::detail {

using namespace observe;

namespace {

// Removes every second one but the last eight.
void thin_out(std::vector<std::uint64_t>& seen) noexcept {
    const std::size_t older = seen.size() - walk_position::most_recent;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < seen.size(); ++i) {
        if (i >= older || i % 2 == 0) {
            seen[kept++] = seen[i];
        }
    }
    seen.resize(kept);
}

}  // namespace

void walk_position::visited(std::uint32_t depth, std::uint64_t id) {
    levels_.resize(depth + 1);
    std::vector<std::uint64_t>& seen = levels_[depth].seen;
    if (seen.size() == most_remembered) {
        thin_out(seen);
    }
    seen.push_back(id);
    is_last_finished_ = false;
}

void walk_position::finished(std::uint32_t depth) noexcept {
    levels_.resize(depth + 1);
    is_last_finished_ = true;
}

namespace {

class page_visitor {
public:
    page_visitor(walk_position& at, void* context, page_function fn, std::uint32_t depth) noexcept
        : at_(&at), context_(context), fn_(fn), depth_(depth) {}

    look look_at(member& m) noexcept {
        if (is_over_) {
            is_complete_ = is_complete_ && m.kind() != member_kind::node;
            return m.kind() == member_kind::node ? look::end : look::skip;
        }
        return m.kind() == member_kind::node ? look::visit : look::skip;
    }
    bool visit(node& n) noexcept {
        show(n);
        if (is_over_) {
            is_complete_ = is_complete_ && !n.has_members();
            return false;
        }
        if (!n.has_members()) {
            at_->finished(depth_);
            return false;
        }
        ++depth_;
        return true;
    }
    static bool run(member& /*m*/) noexcept { return false; }
    static void ran(member& /*m*/) noexcept {}
    void finish(node& /*n*/) noexcept {
        --depth_;
        if (!is_over_) {
            at_->finished(depth_);
        }
    }

    void show(node& n) noexcept {
        node_description d;
        describe_node(n, depth_, d);
        const std::uint64_t id = node_ids::of(n);
        try {
            at_->visited(depth_, id);
        } catch (const std::bad_alloc&) {
            no_memory_ = true;
            is_over_ = true;
            return;
        }
        is_over_ = !fn_(context_, d, id);
    }

    [[nodiscard]] bool is_over() const noexcept { return is_over_; }
    [[nodiscard]] bool is_complete() const noexcept { return is_complete_; }
    [[nodiscard]] bool has_no_memory() const noexcept { return no_memory_; }

private:
    walk_position* at_;
    void* context_;
    page_function fn_;
    std::uint32_t depth_;
    bool is_over_ = false;
    bool is_complete_ = true;
    bool no_memory_ = false;
};

// The nodes from below the root down to where the walk goes on.
struct resumed_path {
    std::vector<node_ref<>> held;
    std::vector<node*> nodes;
    bool go_below = true;
};

// Only a first look: run_from() decides.
bool is_in_list(const node& n) noexcept {
    if (n.parent() == nullptr) {
        return false;
    }
    const std::lock_guard held(node_access::lock_of(*n.parent()));
    return (node_access::flags_of(const_cast<node&>(n)) & node_access::is_linked) != 0;
}

// At each list the newest node that is alive. Behind an older one, what comes after it is visited again.
resumed_path find_path(const walk_position& at) {
    resumed_path path;
    const std::vector<walk_position::level>& levels = at.levels();
    for (std::size_t depth = 1; depth < levels.size(); ++depth) {
        const std::vector<std::uint64_t>& seen = levels[depth].seen;
        std::size_t i = seen.size();
        node_ref<> found;
        while (i > 0 && !found) {
            found = node_ids::find(seen[--i]);
            if (found && !is_in_list(*found)) {
                found = node_ref<>();
            }
        }
        if (!found) {
            path.go_below = true;
            return path;
        }
        const bool is_newest = i + 1 == seen.size();
        const bool is_deepest = depth + 1 == levels.size();
        path.nodes.push_back(found.get());
        path.held.push_back(std::move(found));
        path.go_below = is_newest && !(is_deepest && at.is_last_finished());
        if (!is_newest) {
            return path;
        }
    }
    return path;
}

// The list above has to be visited again from its begin if the position's own nodes have left it.
void go_on_from(node& root, walk_position& at, void* context, page_function fn, page_visitor& visitor) {
    resumed_path path = find_path(at);
    for (;;) {
        const auto depth = static_cast<std::uint32_t>(path.nodes.size());
        visitor = page_visitor(at, context, fn, depth + (path.go_below || depth == 0 ? 1 : 0));
        walker walk(visitor);
        if (walk.run_from(root, path.nodes, path.go_below)) {
            return;
        }
        path.nodes.pop_back();
        path.go_below = true;
    }
}

}  // namespace

bool walk_page(const roost::node& root, walk_position& at, void* context, page_function fn) {
    if (!root) {
        return true;
    }
    const roost::node held = root;  // NOLINT(performance-unnecessary-copy-initialization): fn may replace the handle
    node& top = tree_access::core_of(held);
    page_visitor visitor(at, context, fn, 0);
    if (!at.is_at_begin()) {
        if (at.levels().size() == 1 && at.is_last_finished()) {
            return true;  // everything was visited
        }
        go_on_from(top, at, context, fn, visitor);
    } else {
        visitor.show(top);
        if (visitor.is_over()) {
            return !visitor.has_no_memory() && !top.has_members();
        }
        visitor = page_visitor(at, context, fn, 1);
        walker walk(visitor);
        walk.run(top);
    }
    if (visitor.has_no_memory()) {
        throw std::bad_alloc();
    }
    return visitor.is_complete();
}

}  // namespace roost::inline ROOST_ABI::detail
