#include <roost/shutdown/report.hpp>

#include <roost/base/atomic.hpp>
#include <roost/shutdown/detail/provenance.hpp>
#include <roost/shutdown/detail/shutdown_node.hpp>
#include <roost/tree/visit.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>
#include <new>

// How a report is made: the nodes of the subtree are visited and held in memory, so that no address can be used again; then
// the slots of all threads are read, and those that name a held node are guards of this subtree. What a node counts beyond
// its guards and its children with work is work of its own: a job's body, a lease, a guard without a slot.

namespace roost::inline ROOST_ABI {

namespace {

struct held_node {
    node_ref<> ref;
    std::string kind;
    std::string waits_on;
    std::optional<time_point> started;
    bool uninterruptible = false;
    std::int64_t guards = 0;    // found in slots
    std::int64_t children = 0;  // with work: one unit each
};

struct collecting {
    std::map<const void*, std::size_t> index;
    std::vector<held_node> nodes;
    std::vector<report_entry> groups;
    time_point at = now();
    bool no_memory = false;

    void visit(const node_description& d) {
        auto* n = const_cast<node*>(d.target);
        if (!n->try_retain()) {
            return;  // on its way out
        }
        held_node h;
        h.ref = node_ref<>::adopt(n);
        h.kind = d.kind;
        h.waits_on = d.waits_on;
        h.started = d.started;
        h.uninterruptible = d.uninterruptible;
        index.emplace(n, nodes.size());
        nodes.push_back(std::move(h));
    }

    report_entry& group(std::string_view kind, std::string_view name, site where) {
        report_entry wanted{std::string(kind), std::string(name), where};
        for (report_entry& e : groups) {
            if (e.same_group(wanted)) {
                return e;
            }
        }
        return groups.emplace_back(std::move(wanted));
    }

    void add_guard(const detail::guard_slot::copy& c) {
        const auto found = index.find(c.owner);
        if (found == index.end()) {
            return;
        }
        held_node& h = nodes[found->second];
        ++h.guards;
        report_entry& g = group("guard", h.ref->name(), c.where);
        const std::optional<duration> age = detail::age_of(c.since, at);
        if (c.since < 0) {
            g.add_at_least(1, age);
        } else {
            g.add(1, age);
        }
    }

    // Counted now, after the slots: a node that was met with work may have none any more.
    void add_own_work() {
        for (const held_node& h : nodes) {
            const auto up = h.ref->has_work() ? index.find(h.ref->parent()) : index.end();
            if (up != index.end()) {
                ++nodes[up->second].children;
            }
        }
        for (const held_node& h : nodes) {
            const std::int64_t units = detail::shutdown_node::count_of(*h.ref).units - h.children - h.guards;
            if (units <= 0) {
                continue;
            }
            const bool is_guard = h.kind == "shutdown";
            std::optional<duration> age;
            if (h.started) {
                age = std::max(at - *h.started, duration::zero());
            }
            group(is_guard ? "guard" : std::string_view(h.kind), h.ref->name(), is_guard ? site() : h.ref->made_at())
                .add(static_cast<std::size_t>(units), age, h.waits_on, h.uninterruptible);
        }
    }
};

std::string plural(std::size_t n, const std::string& what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); }

bool comes_first(const report_entry& a, const report_entry& b) noexcept {
    const duration none = duration::min();
    const duration age_a = a.oldest().value_or(none);
    const duration age_b = b.oldest().value_or(none);
    if (age_a != age_b) {
        return age_a > age_b;
    }
    if (const int order = std::strcmp(a.where().file(), b.where().file()); order != 0) {
        return order < 0;
    }
    if (a.where().line() != b.where().line()) {
        return a.where().line() < b.where().line();
    }
    return a.name() < b.name();
}

}  // namespace

void report_entry::add(std::size_t n, std::optional<duration> age, std::string waits_on, bool uninterruptible) {
    count_ += n;
    const bool is_oldest = age && (!oldest_ || *age > *oldest_);
    if (is_oldest) {
        oldest_ = age;
        is_at_least_ = false;
    }
    if (is_oldest || waits_on_.empty()) {
        waits_on_ = std::move(waits_on);
        uninterruptible_ = uninterruptible;
    }
}

void report_entry::add_at_least(std::size_t n, std::optional<duration> age) {
    const std::optional<duration> before = oldest_;
    add(n, age);
    is_at_least_ = is_at_least_ || oldest_ != before;
}

std::string report_entry::to_string() const {
    std::string text = plural(count_, kind_) + " of '" + name_ + "' at " + where_.to_string();
    if (kind_ != "guard") {
        text = plural(count_, kind_) + " '" + name_ + "' at " + where_.to_string();
    }
    if (oldest_) {
        text.append(count_ == 1 ? ", age " : ", oldest ")
            .append(is_at_least_ ? "at least " : "")
            .append(format_age(*oldest_));
    }
    if (!waits_on_.empty()) {
        text.append(", waits on ").append(waits_on_);
    }
    if (uninterruptible_) {
        text.append(", uninterruptible");
    }
    return text;
}

shutdown_report::shutdown_report(std::vector<report_entry> groups) : entries_(std::move(groups)) {
    std::sort(entries_.begin(), entries_.end(), comes_first);
    for (const report_entry& e : entries_) {
        total_ += e.count();
    }
}

std::string shutdown_report::to_string() const {
    if (entries_.empty()) {
        return "no work outstanding\n";
    }
    std::vector<std::pair<std::string, std::size_t>> kinds;
    for (const report_entry& e : entries_) {
        auto known = std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) { return k.first == e.kind(); });
        if (known == kinds.end()) {
            kinds.emplace_back(e.kind(), e.count());
        } else {
            known->second += e.count();
        }
    }
    std::string text;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        text.append(i == 0 ? "" : i + 1 == kinds.size() ? " and " : ", ").append(plural(kinds[i].second, kinds[i].first));
    }
    text.append(" outstanding:\n");
    for (const report_entry& e : entries_) {
        text.append("  ").append(e.to_string()).append("\n");
    }
    return text;
}

std::string format_age(duration age) {
    const double seconds = std::chrono::duration<double>(age).count();
    char text[48];
    if (seconds < 1) {
        std::snprintf(text, sizeof text, "%.0f ms", seconds * 1000);
    } else {
        std::snprintf(text, sizeof text, "%.1f s", seconds);
    }
    return text;
}

shutdown_report detail::report_of(node& n) {
    collecting c;
    static_cast<void>(visit(n, std::numeric_limits<std::size_t>::max(), [&](const node_description& d) noexcept {
        try {
            if (!c.no_memory) {
                c.visit(d);
            }
        } catch (const std::bad_alloc&) {
            c.no_memory = true;
        }
    }));
    if (c.no_memory) {
        throw std::bad_alloc();
    }
    for_each_guard(&c,
                   [](void* context, const guard_slot::copy& copy) { static_cast<collecting*>(context)->add_guard(copy); });
    c.add_own_work();
    return shutdown_report(std::move(c.groups));
}

}  // namespace roost::inline ROOST_ABI
