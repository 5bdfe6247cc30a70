#include <roost/shutdown/report.hpp>

#include <roost/base/atomic.hpp>
#include <roost/base/detail/subject_text.hpp>
#include <roost/base/format_duration.hpp>
#include <roost/shutdown/detail/provenance.hpp>
#include <roost/shutdown/detail/report_of.hpp>
#include <roost/shutdown/detail/shutdown_node.hpp>
#include <roost/tree/detail/entry_text.hpp>
#include <roost/tree/visit.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <new>
#include <unordered_map>

// How a report is made. The nodes of the subtree are visited and retained, so no address is reused. Then the slots of all threads
// are read; a slot that names a retained node is a guard of this subtree. After all slots have been read, each is read again. A
// guard that is still in its slot goes into the report. So all guards in the report existed at one moment, between the two reads,
// and every guard held during the whole call is included. Other work (a job's body, a pool's resources) is read from the nodes.
// A body waits in the innermost of its scopes and regions, so what those wait on is what their job waits on. A job that only
// waits for its children is left out; its children are listed. A job or scope without such children is held by leases.

namespace roost::inline ROOST_ABI {

using namespace observe;

namespace {

constexpr std::size_t no_owner = ~std::size_t(0);

struct held_node {
    detail::node_ref<> ref;
    std::string kind;
    std::string waits_on;
    std::string held_by;  // who holds what it waits on
    std::string at;  // the line of the await that it is suspended at, and those of its callers
    std::optional<time_point> started;
    bool uninterruptible = false;
    bool is_guarded = false;  // a shutdown node: its work is guards
    bool is_leased = false;  // a shutdown node without guards; read again at the end
    detail::node* joining = nullptr;  // the scope whose children its body only waits for
    std::size_t guards = 0;  // in the report, with a slot
    std::size_t owner = no_owner;  // the innermost visited job that it is part of; a job is its own
};

struct seen_guard {
    const detail::guard_slot* slot;
    detail::guard_slot::copy copy;
    std::size_t node;
};

struct collecting {
    std::map<const void*, std::size_t> index;
    std::vector<held_node> nodes;
    std::vector<seen_guard> guards;
    std::vector<report_entry> groups;
    std::unordered_multimap<std::size_t, std::size_t> by_key;
    std::size_t last_group = 0;  // neighbours are often of one group
    time_point at = now();

    void visit(const node_description& d) {
        if (d.left_out) {
            return;  // kept for reuse: no work
        }
        auto* n = const_cast<detail::node*>(d.target);
        if (!n->try_retain()) {
            return;  // already being freed
        }
        held_node h;
        h.ref = detail::node_ref<>::adopt(n);
        h.kind = d.kind;
        h.waits_on = d.waits_on;
        h.held_by = detail::shown(d.held_by);
        detail::append_stack(h.at, d);
        h.started = d.started;
        h.uninterruptible = d.uninterruptible;
        h.is_guarded = h.kind == "shutdown";
        h.is_leased = h.is_guarded && static_cast<detail::shutdown_node&>(*n).has_only_leases();
        if (n->functions().own == detail::own_work::body) {
            h.owner = nodes.size();
        } else if (n->functions().own == detail::own_work::none) {
            const auto above = index.find(n->parent());
            h.owner = above == index.end() ? no_owner : nodes[above->second].owner;
            set_wait_of_owner(h, d.closing && d.units > 0 ? n : nullptr);
        }
        index.emplace(n, nodes.size());
        nodes.push_back(std::move(h));
    }

    // inner is a scope or region. Its job, if visited, waits on what inner waits on.
    void set_wait_of_owner(const held_node& inner, detail::node* joining) {
        if (inner.owner == no_owner) {
            return;
        }
        held_node& owner = nodes[inner.owner];
        if (owner.waits_on.empty()) {
            owner.waits_on = inner.waits_on;
            owner.held_by = inner.held_by;
            owner.at = inner.at;
            owner.uninterruptible = inner.uninterruptible;
        }
        owner.joining = joining;
    }

    report_entry& group(std::string_view kind, std::string_view name, site where) {
        const auto is_it = [&](const report_entry& e) { return e.site() == where && e.kind() == kind && e.name() == name; };
        if (!groups.empty() && is_it(groups[last_group])) {
            return groups[last_group];
        }
        const std::hash<std::string_view> hash;
        const std::size_t key = hash(kind) ^ (hash(name) * 31) ^ (std::size_t{where.line()} * 0x9e3779b9U);
        for (auto [at_key, end] = by_key.equal_range(key); at_key != end; ++at_key) {
            if (is_it(groups[at_key->second])) {
                last_group = at_key->second;
                return groups[last_group];
            }
        }
        by_key.emplace(key, groups.size());
        last_group = groups.size();
        return groups.emplace_back(std::string(kind), std::string(name), where);
    }

    void see_guard(const detail::guard_slot& slot, const detail::guard_slot::copy& c) {
        if (const auto found = index.find(c.owner); found != index.end()) {
            guards.push_back({&slot, c, found->second});
        }
    }

    void add_guards() {
        for (const seen_guard& g : guards) {
            if (g.slot->word() != g.copy.word) {
                continue;
            }
            held_node& h = nodes[g.node];
            ++h.guards;
            report_entry& e = group("guard", h.ref->name(), g.copy.where);
            const std::optional<duration> age = detail::age_of(g.copy.since, at);
            if (g.copy.since < 0) {
                detail::shutdown_access::add_at_least(e, 1, age);
            } else {
                detail::shutdown_access::add(e, 1, age);
            }
        }
    }

    // Reads the work after the slots: a node that had work when it was visited may have none now.
    void add_own_work() {
        using detail::shutdown_node;
        for (held_node& h : nodes) {
            std::size_t units = shutdown_node::own_work_of(*h.ref);
            if (h.is_guarded) {
                // Counts and slots are read at different times, so during changes the difference is approximate.
                if (detail::may_miss_guards() && units > h.guards) {
                    report_entry& e = group("guard", h.ref->name(), site());
                    detail::shutdown_access::add(e, units - h.guards, std::nullopt);
                    e.mark_approximate();
                }
                if (!h.is_leased || !static_cast<shutdown_node&>(*h.ref).has_only_leases()) {
                    continue;
                }
                units = 1;
                h.waits_on = "lease";
            } else if (shutdown_node::may_be_leased(*h.ref) && shutdown_node::is_leased(*h.ref)) {
                units = 1;
                h.waits_on = "lease";
            } else if (h.joining != nullptr && h.waits_on.empty()) {
                if (!shutdown_node::is_leased(*h.joining)) {
                    continue;
                }
                h.waits_on = "lease";
            }
            if (units != 0) {
                const auto age = h.started ? std::optional(std::max(at - *h.started, duration::zero())) : std::nullopt;
                report_entry& e = group(h.kind, h.ref->name(), h.ref->made_at());
                detail::shutdown_access::add(e, units, age,
                                             report_entry::wait{h.waits_on, h.at, h.held_by, units, h.uninterruptible});
            }
        }
    }
};

constexpr std::size_t most_waits = 64;  // kept of one group
constexpr std::size_t most_said = 8;  // of those, in its line

std::string plural(std::size_t n, const std::string& what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); }

bool comes_first(const report_entry& a, const report_entry& b) noexcept {
    const duration none = duration::min();
    const duration age_a = a.oldest().value_or(none);
    const duration age_b = b.oldest().value_or(none);
    if (age_a != age_b) {
        return age_a > age_b;
    }
    if (const int order = std::strcmp(a.site().file(), b.site().file()); order != 0) {
        return order < 0;
    }
    if (a.site().line() != b.site().line()) {
        return a.site().line() < b.site().line();
    }
    return a.name() < b.name();
}

}  // namespace

void report_entry::add(std::size_t n, std::optional<duration> age, wait what) {
    count_ += n;
    const bool is_oldest = age && (!oldest_ || *age > *oldest_);
    if (is_oldest) {
        oldest_ = age;
        is_at_least_ = false;
    }
    const auto same = std::find_if(waits_.begin(), waits_.end(), [&](const wait& w) {
        return w.on == what.on && w.at == what.at && w.uninterruptible == what.uninterruptible;
    });
    if (same != waits_.end()) {
        same->count += n;
        if (is_oldest) {
            same->held_by = std::move(what.held_by);
            std::rotate(waits_.begin(), same, same + 1);
        }
        return;
    }
    if (waits_.size() == most_waits) {
        unlisted_ += is_oldest ? waits_.back().count : n;
        if (!is_oldest) {
            return;
        }
        waits_.pop_back();
    }
    what.count = n;
    waits_.insert(is_oldest ? waits_.begin() : waits_.end(), std::move(what));
}

void report_entry::add_at_least(std::size_t n, std::optional<duration> age) {
    const std::optional<duration> before = oldest_;
    add(n, age);
    is_at_least_ = is_at_least_ || oldest_ != before;
}

const std::string& report_entry::waits_on() const noexcept {
    static const std::string unknown;
    return waits_.empty() ? unknown : waits_.front().on;
}

bool report_entry::is_uninterruptible() const noexcept { return !waits_.empty() && waits_.front().uninterruptible; }

std::string report_entry::to_string() const {
    std::string text;
    detail::append_subject(text, (is_about_ ? "about " : "") + plural(count_, kind_) + (kind_ == "guard" ? " of" : ""),
                           name_, where_);
    if (!where_.is_known()) {
        text.append(" (").append(where_.to_string()).append(")");  // a report lists the sites that were not recorded
    }
    if (oldest_) {
        text.append(count_ == 1 ? ", age " : ", oldest ")
            .append(is_at_least_ ? "at least " : "")
            .append(format_duration(*oldest_));
    }
    const bool all_alike = waits_.size() <= 1;
    std::size_t said = 0;
    std::size_t more = unlisted_;
    for (const wait& w : waits_) {
        if (said++ >= most_said) {
            more += w.count;
            continue;
        }
        if (!w.on.empty() && all_alike) {
            text.append(w.at).append(count_ == 1 ? ", waits on " : ", all wait on ").append(w.on);
            detail::append_held_by(text, w.held_by);
        } else if (!w.on.empty()) {
            text.append(", ").append(std::to_string(w.count)).append(w.count == 1 ? " waits on " : " wait on ").append(w.on);
            text.append(w.at, w.at.empty() ? 0 : 1);  // without its comma
            detail::append_held_by(text, w.held_by);
        } else if (!all_alike) {
            text.append(", ").append(std::to_string(w.count)).append(w.count == 1 ? " is running" : " are running");
        }
        if (w.uninterruptible) {
            text.append(all_alike ? ", uninterruptible" : " (uninterruptible)");
        }
    }
    if (more != 0) {
        text.append(", and ").append(std::to_string(more)).append(" more");
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

shutdown_report detail::report_of(detail::node& n) {
    collecting c;
    static_cast<void>(visit(n, std::numeric_limits<std::size_t>::max(), [&](const node_description& d) { c.visit(d); }));
    for_each_guard(&c, [](void* context, const guard_slot& slot, const guard_slot::copy& copy) {
        static_cast<collecting*>(context)->see_guard(slot, copy);
    });
    c.add_guards();
    c.add_own_work();
    return shutdown_report(std::move(c.groups));
}

}  // namespace roost::inline ROOST_ABI
