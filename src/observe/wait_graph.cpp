#include "wait_graph.hpp"

#include <roost/flow/detail/group/fork_scope.hpp>

#include <algorithm>

namespace roost::inline ROOST_ABI::detail {

// A race cancels the jobs that lost, and a scope its daemons: those do not keep the nodes above from ending.
template <class Fn>
void wait_graph::for_each_above(const job_core& who, Fn fn) {
    for (const node* at = &who; at != nullptr; at = at->parent()) {
        const fork_scope* const group = fork_scope::from(*at);
        if (daemon_scope::from(*at) != nullptr || (group != nullptr && !group->waits_for_each())) {
            return;
        }
        fn(*at);
    }
}

wait_graph::wait_graph(const std::vector<wait_edge>& edges, const holdings_of& held)
    : edges_(edges), held_(held), is_in_(edges.size(), 0), next_(edges.size()) {
    count_members();
    count_permits();
    start_removal();
    spread();
    find_successors();
}

void wait_graph::count_members() {
    for (std::size_t i = 0; i < edges_.size(); ++i) {
        const wait_edge& e = edges_[i];
        const bool is_first = e.how != wait_edge::rule::other && edge_of_.emplace(e.who, i).second;
        is_in_[i] = is_first ? 1 : 0;
        if (const node* const target = is_first ? e.awaited() : nullptr) {
            awaiting_[target].push_back(i);
            inside_.emplace(target, 0);
        }
    }
    for (const auto& [job, i] : edge_of_) {
        for_each_above(*job, [this](const node& n) {
            if (const auto at = inside_.find(&n); at != inside_.end()) {
                ++at->second;
            }
        });
    }
}

void wait_graph::count_permits() {
    for (std::size_t i = 0; i < edges_.size(); ++i) {
        const wait_edge& e = edges_[i];
        if (is_in_[i] != 0 && e.how == wait_edge::rule::permits) {
            resource& r = resources_[e.subject.of];
            r.total = std::max(r.total, e.subject.total);
            r.waiting.emplace(e.subject.need, i);
        }
    }
    for (auto& [of, r] : resources_) {
        const auto found = held_.find(of);
        if (found == held_.end()) {
            continue;
        }
        std::uint32_t most = 0;
        for (const kept_holding& h : found->second) {
            most = std::max(most, h.one.total);
            if (h.one.is_sure && edge_of_.contains(h.by.get())) {
                r.held_inside += h.one.permits;
                held_by_[h.by.get()].emplace_back(of, h.one.permits);
            }
        }
        r.total = r.total == 0 ? most : r.total;  // a pool's wait knows it
    }
}

void wait_graph::remove(std::size_t i) {
    if (std::exchange(is_in_[i], char(0)) != 0) {
        removed_.push_back(i);
    }
}

void wait_graph::start_removal() {
    for (auto& [of, r] : resources_) {
        const bool is_unknown = r.total == 0;
        for (auto at = r.waiting.begin(); at != r.waiting.end() && (is_unknown || is_free(r, at->first));
             at = r.waiting.erase(at)) {
            remove(at->second);
        }
    }
    for (const auto& [target, waiting] : awaiting_) {
        if (inside_[target] == 0) {
            for (const std::size_t i : waiting) {
                remove(i);
            }
        }
    }
}

void wait_graph::spread() {
    while (!removed_.empty()) {
        const job_core& who = *edges_[removed_.back()].who;
        removed_.pop_back();
        if (const auto mine = held_by_.find(&who); mine != held_by_.end()) {
            for (const auto& [of, n] : mine->second) {
                resource& r = resources_[of];
                r.held_inside -= n;
                while (!r.waiting.empty() && is_free(r, r.waiting.begin()->first)) {
                    remove(r.waiting.begin()->second);
                    r.waiting.erase(r.waiting.begin());
                }
            }
        }
        for_each_above(who, [this](const node& n) {
            const auto at = inside_.find(&n);
            if (at != inside_.end() && --at->second == 0) {
                for (const std::size_t i : awaiting_[&n]) {
                    remove(i);
                }
            }
        });
    }
}

void wait_graph::find_successors() {
    std::unordered_map<const node*, std::vector<std::size_t>> members;
    for (std::size_t i = 0; i < edges_.size(); ++i) {
        if (const node* const target = is_in_[i] != 0 ? edges_[i].awaited() : nullptr) {
            members[target];
        }
    }
    for (const std::size_t i : stuck()) {
        for_each_above(*edges_[i].who, [&](const node& n) {
            if (const auto at = members.find(&n); at != members.end()) {
                at->second.push_back(i);
            }
        });
    }
    for (const std::size_t i : stuck()) {
        const wait_edge& e = edges_[i];
        if (const node* const target = e.awaited()) {
            next_[i] = members[target];
            continue;
        }
        for (const kept_holding& h : held_.at(e.subject.of)) {
            const auto owner = h.one.is_sure ? edge_of_.find(h.by.get()) : edge_of_.end();
            if (owner != edge_of_.end() && is_in_[owner->second] != 0 &&
                std::find(next_[i].begin(), next_[i].end(), owner->second) == next_[i].end()) {
                next_[i].push_back(owner->second);
            }
        }
    }
}

std::vector<std::size_t> wait_graph::stuck() const {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < edges_.size(); ++i) {
        if (is_in_[i] != 0) {
            all.push_back(i);
        }
    }
    return all;
}

namespace {

// Strongly connected components, after Tarjan, without recursion: chains of jobs can be long.
class components {
public:
    explicit components(const wait_graph& graph, std::size_t size)
        : graph_(graph), order_(size, 0), low_(size, 0), open_(size, 0) {}

    // Calls found(component) for each one that can be reached from `start` and was not found before.
    template <class Found>
    void from(std::size_t start, Found found) {
        if (order_[start] != 0) {
            return;
        }
        enter(start);
        while (!path_.empty()) {
            auto& [at, edge] = path_.back();
            const std::vector<std::size_t>& next = graph_.successors(at);
            if (edge < next.size()) {
                const std::size_t to = next[edge++];
                if (order_[to] == 0) {
                    enter(to);
                } else if (open_[to] != 0) {
                    low_[at] = std::min(low_[at], order_[to]);
                }
                continue;
            }
            const std::size_t done = at;
            path_.pop_back();
            if (!path_.empty()) {
                low_[path_.back().first] = std::min(low_[path_.back().first], low_[done]);
            }
            if (low_[done] == order_[done]) {
                found(close(done));
            }
        }
    }

private:
    void enter(std::size_t i) {
        order_[i] = low_[i] = ++count_;
        open_[i] = 1;
        stack_.push_back(i);
        path_.emplace_back(i, 0);
    }
    std::vector<std::size_t> close(std::size_t root) {
        std::vector<std::size_t> members;
        for (bool more = true; more;) {
            more = stack_.back() != root;
            open_[stack_.back()] = 0;
            members.push_back(stack_.back());
            stack_.pop_back();
        }
        return members;
    }

    const wait_graph& graph_;
    std::vector<std::size_t> order_;
    std::vector<std::size_t> low_;
    std::vector<char> open_;
    std::vector<std::size_t> stack_;
    std::vector<std::pair<std::size_t, std::size_t>> path_;
    std::size_t count_ = 0;
};

// Puts one cycle first, in its order. Requires that every member has a successor among the members.
void put_cycle_first(std::vector<std::size_t>& members, const wait_graph& graph) {
    std::sort(members.begin(), members.end());
    std::vector<std::size_t> path;
    std::size_t at = members.front();
    auto seen = path.end();
    while ((seen = std::find(path.begin(), path.end(), at)) == path.end()) {
        path.push_back(at);
        const auto& next = graph.successors(at);
        at = *std::find_if(next.begin(), next.end(),
                           [&](std::size_t to) { return std::binary_search(members.begin(), members.end(), to); });
    }
    path.erase(path.begin(), seen);
    for (const std::size_t i : members) {
        if (std::find(path.begin(), path.end(), i) == path.end()) {
            path.push_back(i);
        }
    }
    members = std::move(path);
}

}  // namespace

std::vector<std::vector<std::size_t>> wait_graph::cycles() const {
    std::vector<std::vector<std::size_t>> all;
    components parts(*this, edges_.size());
    for (const std::size_t start : stuck()) {
        parts.from(start, [&](std::vector<std::size_t> members) {
            const auto& next = next_[members.front()];
            if (members.size() > 1 || std::find(next.begin(), next.end(), members.front()) != next.end()) {
                put_cycle_first(members, *this);
                all.push_back(std::move(members));
            }
        });
    }
    return all;
}

}  // namespace roost::inline ROOST_ABI::detail
