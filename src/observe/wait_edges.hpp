#pragma once

// What waits() and find_cycles() read of a running program.

#include <roost/observe/waits.hpp>
#include <roost/sync/detail/holdings.hpp>
#include <roost/task/detail/job/job_core.hpp>

#include <unordered_map>
#include <vector>

namespace roost::inline ROOST_ABI::detail {

// What one body is suspended in, as it was read at one moment.
struct wait_edge {
    enum class rule : std::uint8_t {
        permits,  // for permits of a primitive
        join,  // for the end of a job
        children,  // for everything in a scope
        other,  // for something without a holder
    };

    node_ref<region> in;
    job_core* who = nullptr;  // `in` keeps it
    rule how = rule::other;
    const cancellable* wait = nullptr;  // compared only
    std::int64_t stamp = 0;
    wait_subject subject;
    node_ref<job_core> joined;
    bool is_uninterruptible = false;
    site at;
    char kind[40] = {};
    char name[120] = {};

    // Returns the node whose end it waits for; null for other rules.
    [[nodiscard]] const node* awaited() const noexcept {
        return how == rule::join       ? static_cast<const node*>(joined.get())
               : how == rule::children ? static_cast<const node*>(in.get())
                                       : nullptr;
    }
};

// A record of the table, which keeps its job.
struct kept_holding {
    holding one;
    node_ref<job_core> by;
};

// Reads what the body in `in` waits for. Returns false if it is not suspended there.
[[nodiscard]] bool read_edge(region& in, wait_edge& edge) noexcept;
// Returns the edges below root. Throws std::bad_alloc.
[[nodiscard]] std::vector<wait_edge> read_edges(node& root, std::size_t limit);
// Returns the holdings of the primitive. Throws std::bad_alloc.
[[nodiscard]] std::vector<kept_holding> read_holdings(const void* of);
// Returns true if both are the same wait, which has not ended in between.
[[nodiscard]] bool is_same_wait(const wait_edge& before, const wait_edge& after) noexcept;
// Copies what an edge says. Throws std::bad_alloc.
[[nodiscard]] observe::waiting_job describe_edge(const wait_edge& edge);
[[nodiscard]] observe::wait_owner describe_holding(const kept_holding& held);

}  // namespace roost::inline ROOST_ABI::detail
