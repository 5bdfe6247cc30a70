#include <roost/observe/waits.hpp>

#include <roost/base/detail/subject_text.hpp>
#include <roost/base/format_duration.hpp>
#include <roost/flow/detail/group/fork_scope.hpp>
#include <roost/task/detail/frame/await.hpp>
#include <roost/task/detail/job/scope_await.hpp>
#include <roost/tree/detail/walker.hpp>

#include "wait_edges.hpp"

#include <algorithm>
#include <new>

namespace roost::inline ROOST_ABI {

using namespace observe;

namespace detail {

namespace {

void copy_text(std::string_view from, char* to, std::size_t size) noexcept { to[from.copy(to, size - 1)] = '\0'; }

void copy_wait(void* context, const cancellable& waiting, const wait_functions& functions) noexcept {
    wait_edge& edge = *static_cast<wait_edge*>(context);
    const wait_target what = functions.what(waiting);
    copy_text(what.kind(), edge.kind, sizeof edge.kind);
    copy_text(what.name(), edge.name, sizeof edge.name);
    edge.wait = &waiting;
    edge.stamp = waiting.stamp();
    edge.subject = functions.subject(waiting);
    edge.is_uninterruptible = functions.is_uninterruptible();
    edge.at = await_line(waiting.frame());
    edge.how = edge.subject.need != 0 ? wait_edge::rule::permits : wait_edge::rule::other;
    if (job_core* joined = functions.joined(waiting)) {
        edge.joined = node_ref<job_core>::share(*joined);
        edge.how = wait_edge::rule::join;
        edge.subject.is_pending = !joined->is_final();
    }
}

// A body that has ended its part of a scope, or has begun a group, waits in no operation.
bool is_waited_for_by_body(const region& in) noexcept {
    if (const scope_block* scope = scope_block::from(in)) {
        return scope->is_joining();
    }
    const fork_scope* group = fork_scope::from(in);
    return group != nullptr && !group->is_idle() && group->waits_for_each();
}

class collecting {
public:
    collecting(std::vector<wait_edge>& to, std::size_t limit) noexcept : to_(to), limit_(limit) {}

    [[nodiscard]] look look_at(member& m) const noexcept {
        return m.kind() == member_kind::node && !has_failed && to_.size() < limit_ ? look::visit : look::skip;
    }
    bool visit(node& n) noexcept {
        add(n);
        return n.has_members();
    }
    static bool run(member& /*m*/) noexcept { return false; }
    static void ran(member& /*m*/) noexcept {}
    static void finish(node& /*n*/) noexcept {}

    void add(node& n) noexcept {
        region* const in = region::from(n);
        if (in == nullptr || has_failed || to_.size() >= limit_) {
            return;
        }
        wait_edge edge;
        if (!read_edge(*in, edge)) {
            return;
        }
        edge.in = node_ref<region>::try_share(*in);
        try {
            if (edge.in) {
                to_.push_back(std::move(edge));
            }
        } catch (...) {
            has_failed = true;
        }
    }

    bool has_failed = false;

private:
    std::vector<wait_edge>& to_;
    std::size_t limit_;
};

}  // namespace

bool read_edge(region& in, wait_edge& edge) noexcept {
    in.look_at_wait(&edge, &copy_wait);
    if (edge.wait == nullptr) {
        if (!is_waited_for_by_body(in)) {
            return false;
        }
        edge.how = wait_edge::rule::children;
        edge.subject = {.of = &in, .is_pending = true};
        edge.at = in.made_at();
        copy_text("the end of scope", edge.kind, sizeof edge.kind);
        copy_text(in.name(), edge.name, sizeof edge.name);
    }
    edge.who = &in.owner();
    return true;
}

std::vector<wait_edge> read_edges(node& root, std::size_t limit) {
    std::vector<wait_edge> edges;
    collecting visitor(edges, limit);
    const auto held = node_ref<>::share(root);
    visitor.add(root);
    walker walk(visitor);
    walk.run(root);
    if (visitor.has_failed) {
        throw std::bad_alloc();
    }
    return edges;
}

std::vector<kept_holding> read_holdings(const void* of) {
    struct reading {
        std::vector<kept_holding> found;
        bool has_failed = false;
    } now;
    holdings::visit(of, &now, [](void* context, const holding& one) noexcept {
        auto& all = *static_cast<reading*>(context);
        try {
            auto* job = static_cast<job_core*>(one.by.job);
            all.found.push_back({one, job == nullptr ? node_ref<job_core>() : node_ref<job_core>::share(*job)});
        } catch (...) {
            all.has_failed = true;
        }
    });
    if (now.has_failed) {
        throw std::bad_alloc();
    }
    return std::move(now.found);
}

bool is_same_wait(const wait_edge& before, const wait_edge& after) noexcept {
    if (before.how != after.how || !after.subject.is_pending || before.subject.of != after.subject.of) {
        return false;
    }
    return before.how == wait_edge::rule::children ||
           (before.wait == after.wait && before.stamp == after.stamp && after.stamp != 0);
}

waiting_job describe_edge(const wait_edge& edge) {
    waiting_job made;
    made.job = roost::node(*edge.who);
    made.kind = edge.kind;
    made.name = edge.name;
    made.at = edge.at;
    made.target = edge.joined ? edge.joined.get() : edge.subject.of;
    made.is_uninterruptible = edge.is_uninterruptible;
    if (edge.stamp != 0) {
        made.since = time_point(duration(edge.stamp));
    }
    return made;
}

wait_owner describe_holding(const kept_holding& held) {
    wait_owner made;
    if (held.by) {
        made.job = roost::node(*held.by);
    }
    made.taken_at = held.one.by.at;
    made.permits = held.one.permits;
    made.has_moved = held.by && !held.one.is_sure;
    made.since = time_point(duration(held.one.stamp));
    return made;
}

namespace {

void append_owner(std::string& out, const wait_owner& owner, bool has_to_end) {
    if (has_to_end) {
        append_subject(out, "job", owner.job.name(), owner.job.site());
        return;
    }
    out.append("held");
    if (owner.since) {
        out.append(" ").append(format_duration(std::max(duration(0), now() - *owner.since)));
    }
    if (owner.job) {
        out.append(owner.has_moved ? ", taken" : "");
        append_subject(out.append(" by "), "job", owner.job.name(), owner.job.site());
    }
    if (owner.taken_at.is_known()) {
        out.append(" at ").append(owner.taken_at.to_string());
    }
}

}  // namespace

}  // namespace detail

bool observe::set_owner_tracking(bool on) noexcept { return detail::holdings::track(on); }

std::string waiting_job::to_string() const {
    constexpr std::size_t most_shown = 4;
    std::string out;
    detail::append_subject(out, "job", job.name(), job.site());
    if (at.is_known()) {
        out.append(" at ").append(at.to_string());
    }
    detail::append_subject(out.append(" waits on "), kind, name, site());
    const char* between = " (";
    const bool has_to_end = kind == "job" || kind == "the end of scope";
    for (std::size_t i = 0; i < owners.size() && i < most_shown; ++i) {
        detail::append_owner(out.append(std::exchange(between, "; ")), owners[i], has_to_end);
    }
    if (owners.size() > most_shown) {
        out.append("; ").append(std::to_string(owners.size() - most_shown)).append(" more");
    }
    return owners.empty() ? out : out.append(")");
}

namespace {

// Adds the owners if the wait lasts longer than the look at them: then they are those of its primitive.
void add_owners(waiting_job& to, const detail::wait_edge& edge) {
    if (edge.joined) {
        wait_owner target;
        target.job = roost::node(*edge.joined);
        to.owners.push_back(std::move(target));
    }
    if (edge.how != detail::wait_edge::rule::permits) {
        return;
    }
    const std::vector<detail::kept_holding> held = detail::read_holdings(edge.subject.of);
    detail::wait_edge again;
    if (detail::read_edge(*edge.in, again) && detail::is_same_wait(edge, again)) {
        for (const detail::kept_holding& h : held) {
            to.owners.push_back(detail::describe_holding(h));
        }
    }
}

}  // namespace

std::vector<waiting_job> observe::waits(const roost::node& root, std::size_t limit) {
    std::vector<waiting_job> all;
    if (!root) {
        return all;
    }
    for (const detail::wait_edge& edge : detail::read_edges(detail::tree_access::core_of(root), limit)) {
        detail::wait_edge now;  // the walk may have taken a while
        if (detail::read_edge(*edge.in, now)) {
            now.in = edge.in;
            all.push_back(detail::describe_edge(now));
            add_owners(all.back(), now);
        }
    }
    return all;
}

}  // namespace roost::inline ROOST_ABI
