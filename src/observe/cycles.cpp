// find_cycles(): reads everything twice. A wait and a holding that are the same in both readings existed between the two, and all
// of the first reading precedes all of the second. So what is in both existed at one moment.

#include <roost/observe/waits.hpp>

#include "wait_graph.hpp"

#include <algorithm>

namespace roost::inline ROOST_ABI {

using namespace observe;

namespace detail {

namespace {

constexpr std::size_t most_edges = 100'000;

holdings_of read_all_holdings(const std::vector<wait_edge>& edges) {
    holdings_of held;
    for (const wait_edge& e : edges) {
        if (e.how == wait_edge::rule::permits && !held.contains(e.subject.of)) {
            held.emplace(e.subject.of, read_holdings(e.subject.of));
        }
    }
    return held;
}

// Keeps of `first` the edges that cannot continue and that are still the same.
std::vector<wait_edge> confirmed_edges(std::vector<wait_edge>& first, const std::vector<std::size_t>& stuck) {
    std::vector<wait_edge> same;
    for (const std::size_t i : stuck) {
        wait_edge again;
        if (read_edge(*first[i].in, again) && is_same_wait(first[i], again)) {
            again.in = std::move(first[i].in);
            same.push_back(std::move(again));
        }
    }
    return same;
}

// Keeps of `second` what `first` has too, with the larger total.
void keep_confirmed(const holdings_of& first, holdings_of& second) {
    for (auto& [of, held] : second) {
        const auto before = first.find(of);
        std::uint32_t total = 0;
        for (const kept_holding& h : held) {
            total = std::max(total, h.one.total);
        }
        std::erase_if(held, [&](const kept_holding& h) {
            return before == first.end() ||
                   std::none_of(before->second.begin(), before->second.end(), [&](const kept_holding& b) {
                       return b.one.stamp == h.one.stamp && b.one.handle == h.one.handle;
                   });
        });
        for (kept_holding& h : held) {
            h.one.total = total;
        }
    }
}

void add_owners(waiting_job& to, const wait_edge& edge, const std::vector<wait_edge>& edges, const holdings_of& held,
                const std::vector<std::size_t>& next) {
    if (edge.awaited() != nullptr) {
        if (edge.joined) {
            wait_owner target;
            target.job = roost::node(*edge.joined);
            to.owners.push_back(std::move(target));
        }
        for (const std::size_t i : next) {
            if (edges[i].who != edge.joined.get()) {
                wait_owner inside;
                inside.job = roost::node(*edges[i].who);
                to.owners.push_back(std::move(inside));
            }
        }
        return;
    }
    for (const kept_holding& h : held.at(edge.subject.of)) {
        to.owners.push_back(describe_holding(h));
    }
}

}  // namespace

}  // namespace detail

std::vector<wait_cycle> observe::find_cycles(const roost::node& root) {
    std::vector<wait_cycle> all;
    if (!root || !detail::holdings::is_on()) {
        return all;
    }
    std::vector<detail::wait_edge> first = detail::read_edges(detail::tree_access::core_of(root), detail::most_edges);
    const detail::holdings_of first_held = detail::read_all_holdings(first);
    const std::vector<std::size_t> stuck = detail::wait_graph(first, first_held).stuck();
    if (stuck.empty()) {
        return all;
    }
    const std::vector<detail::wait_edge> edges = detail::confirmed_edges(first, stuck);
    detail::holdings_of held = detail::read_all_holdings(edges);
    detail::keep_confirmed(first_held, held);
    const detail::wait_graph graph(edges, held);
    for (const std::vector<std::size_t>& members : graph.cycles()) {
        wait_cycle& made = all.emplace_back();
        for (const std::size_t i : members) {
            made.jobs.push_back(detail::describe_edge(edges[i]));
            detail::add_owners(made.jobs.back(), edges[i], edges, held, graph.successors(i));
        }
    }
    return all;
}

std::string wait_cycle::to_string() const {
    std::string out = "deadlock of " + std::to_string(jobs.size()) + (jobs.size() == 1 ? " job:\n" : " jobs:\n");
    for (const waiting_job& j : jobs) {
        out.append("  ").append(j.to_string()).append("\n");
    }
    return out;
}

}  // namespace roost::inline ROOST_ABI
