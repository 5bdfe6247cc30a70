#pragma once

// Finds the jobs that cannot continue, whatever the others do.
//
// Begin with all waiting jobs. Remove a job if what it needs may come from a job that is not in the set: a permit that no job in
// the set holds, or the end of a job with nothing of the set in it. Repeat. What is left is a set of jobs that wait only for each
// other: for a mutex all of one holder, for a semaphore or a pool all holders of enough permits (a knot). Permits with an unknown
// owner count as held outside.
//
// Each step costs what it removes, so the whole is about linear in the number of edges and holdings.

#include <roost/task/detail/job/daemon_scope.hpp>

#include "wait_edges.hpp"

#include <map>
#include <unordered_map>
#include <vector>

namespace roost::inline ROOST_ABI::detail {

using holdings_of = std::unordered_map<const void*, std::vector<kept_holding>>;

class wait_graph {
public:
    // Both must live as long as this.
    wait_graph(const std::vector<wait_edge>& edges, const holdings_of& held);

    // Indexes of the edges of the jobs that cannot continue.
    [[nodiscard]] std::vector<std::size_t> stuck() const;
    // Cycles of those: for each group of jobs that wait for each other, their indexes. First one cycle in its order, then the
    // others.
    [[nodiscard]] std::vector<std::vector<std::size_t>> cycles() const;
    // Holders and jobs that edge `i` waits for, among the stuck.
    [[nodiscard]] const std::vector<std::size_t>& successors(std::size_t i) const { return next_[i]; }

private:
    struct resource {
        std::uint32_t total = 0;
        std::uint32_t held_inside = 0;
        std::multimap<std::uint32_t, std::size_t> waiting;  // by need
    };

    void count_members();
    void count_permits();
    void start_removal();
    void remove(std::size_t i);
    void spread();
    void find_successors();
    // Calls fn with each node that cannot end before job `who` does.
    template <class Fn>
    static void for_each_above(const job_core& who, Fn fn);
    [[nodiscard]] bool is_free(const resource& r, std::uint32_t need) const noexcept {
        return r.total - std::min(r.total, r.held_inside) >= need;
    }

    const std::vector<wait_edge>& edges_;
    const holdings_of& held_;
    std::vector<char> is_in_;
    std::vector<std::size_t> removed_;  // their effects are still to be spread
    std::unordered_map<const job_core*, std::size_t> edge_of_;
    std::unordered_map<const void*, resource> resources_;
    std::unordered_map<const job_core*, std::vector<std::pair<const void*, std::uint32_t>>> held_by_;
    std::unordered_map<const node*, std::size_t> inside_;  // members of the set that an awaited node contains
    std::unordered_map<const node*, std::vector<std::size_t>> awaiting_;
    std::vector<std::vector<std::size_t>> next_;
};

}  // namespace roost::inline ROOST_ABI::detail
