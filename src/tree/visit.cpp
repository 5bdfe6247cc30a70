// Order W5: src/tree/work_count.cpp.

#include <roost/tree/visit.hpp>

#include <roost/tree/detail/entry_text.hpp>
#include <roost/tree/detail/page_walk.hpp>
#include <roost/tree/detail/walker.hpp>

// id  operation              order    pairs  carries                                    fails in
// V1  describe: loads        relaxed  -      facts for a report, each true on its own   (floor)
//
// W5 survives acquire->relaxed: that no work is left is learned from the root's own word; a child adds what it has

namespace roost::inline ROOST_ABI {

using namespace observe;

using namespace seam;

using namespace detail;
using access = node_access;

void detail::describe_node(detail::node& n, std::uint32_t depth, node_description& d) noexcept {
    const level_word w = access::level_of(n).load(mo::relaxed);                         // V1
    const work_state work = work_state::unpack(access::work_of(n).load(mo::relaxed));   // V1
    d.target = &n;
    d.kind = n.functions().kind;
    d.name = n.name();
    d.site = n.made_at();
    d.depth = depth;
    d.now = effective_level(w);
    d.requested = requested_level(w);
    d.ignoring = is_ignoring(w);
    d.shield = detail::is_shield(w);
    d.closing = work.closing;
    d.closed = work.closed;
    d.units = work.units;
    d.deadline = n.deadline();
    if (n.functions().describe != nullptr) {
        n.functions().describe(n, d);
    }
}

namespace {

struct describing {
    void* context;
    visit_function fn;
    std::size_t left;
    std::uint32_t depth = 1;
    visit_result result{};

    look look_at(member& m) noexcept {
        if (m.kind() != member_kind::node) {
            return look::skip;
        }
        if (left == 0) {
            result.complete = false;
            return look::skip;
        }
        return look::visit;
    }
    bool visit(detail::node& n) noexcept {
        tell(n);
        if (left == 0 || !n.has_members()) {
            result.complete = result.complete && !(left == 0 && n.has_members());
            return false;
        }
        ++depth;
        return true;
    }
    static bool run(member& /*m*/) noexcept { return false; }
    static void ran(member& /*m*/) noexcept {}
    void finish(detail::node& /*n*/) noexcept { --depth; }

    void tell(detail::node& n) noexcept {
        --left;
        ++result.visited;
        node_description d;
        describe_node(n, depth, d);
        fn(context, d);
    }
};

struct counting {
    std::size_t total = 0;

    look look_at(member& m) noexcept {
        if (m.kind() != member_kind::node) {
            return look::skip;
        }
        auto& child = static_cast<detail::node&>(m);
        const work_state s = work_state::unpack(access::work_of(child).load(mo::acquire));  // W5
        total += s.units;
        if (s.announced) {
            total -= total > 0 ? 1 : 0;
        }
        return s.units > 0 && child.has_members() ? look::visit : look::skip;
    }
    static bool visit(detail::node& /*n*/) noexcept { return true; }
    static bool run(member& /*m*/) noexcept { return false; }
    static void ran(member& /*m*/) noexcept {}
    static void finish(detail::node& /*n*/) noexcept {}
};

void append_line(std::string& out, const node_description& d) {
    out.append(std::size_t(d.depth) * 2, ' ');
    append_entry(out, describe_entry(d));
    out.append(", units ").append(std::to_string(d.units)).append("\n");
}

}  // namespace

void node_description::set_waits_on(std::string_view wait_kind, std::string_view wait_name) noexcept {
    std::size_t length = wait_kind.copy(text, 40);
    if (!wait_name.empty()) {
        length += std::string_view(" '").copy(text + length, 2);
        length += wait_name.copy(text + length, sizeof text - length - 1);
        text[length++] = '\'';
    }
    waits_on = std::string_view(text, length);
}

visit_result observe::visit(const roost::node& root, std::size_t budget, void* context, visit_function fn) noexcept {
    describing visitor{context, fn, budget};
    if (!root || budget == 0) {
        return {0, !root};
    }
    const roost::node held = root;  // NOLINT(performance-unnecessary-copy-initialization): fn may replace the handle
    visitor.depth = 0;
    visitor.tell(detail::tree_access::core_of(held));
    visitor.depth = 1;
    walker walk(visitor);
    walk.run(detail::tree_access::core_of(held));
    return visitor.result;
}

std::size_t detail::node::work_in_subtree() const noexcept {
    auto& self = const_cast<node&>(*this);
    counting visitor;
    visitor.total = units();
    self.retain();
    walker walk(visitor);
    walk.run(self);
    self.release();
    return visitor.total;
}

std::string observe::tree_to_string(const roost::node& root, std::size_t budget) {
    std::string out;
    bool no_memory = false;
    const visit_result r = visit(root, budget, [&](const node_description& d) noexcept {
        try {
            if (!d.left_out) {
                append_line(out, d);
            }
        } catch (const std::bad_alloc&) {
            no_memory = true;
        }
    });
    if (no_memory) {
        throw std::bad_alloc();
    }
    if (!r.complete) {
        out.append("  ... more\n");
    }
    return out;
}

}  // namespace roost::inline ROOST_ABI
