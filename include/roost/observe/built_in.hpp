#pragma once

// The metrics of the library itself, in registry::of_process(). What runtimes, pools and services know anyway is always there;
// jobs and times are measured while metrics::enable() says so. Each metric has labels as listed.
//
//   always         roost_workers{runtime,state} roost_timers{runtime} roost_blocking_busy{runtime} roost_blocking_queued{runtime}
//                  roost_pool_{capacity,live,idle,out,waiting}{pool} roost_pool_{created,create_failures}_total{pool}
//                  roost_phase{service,phase} roost_ready{service} roost_ledger_total{service,outcome}
//                  roost_ledger_open{service} roost_guards{node} roost_stalls_total{kind} roost_dropped_events_total
//   while enabled  roost_jobs{state} roost_jobs_total{outcome,name} roost_run_delay_seconds roost_body_seconds
//                  roost_timer_lateness_seconds roost_lock_wait_seconds roost_pool_wait_seconds{pool}
//
// Counts are exact. Run delay and body time are samples where a thread has more than 4000 a second: a sample counts for those
// since the one before, at most 384. Objects with equal labels are added up. A runtime, pool or service is there from its constructor to its end. observe_guards() adds a
// shutdown tree of the program, and observe_depth() a channel.

#include <roost/observe/registry.hpp>
#include <roost/shutdown/shutdown.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace roost::inline ROOST_ABI::metrics {

// Switches the measuring of jobs and times on or off. Returns what it was before. Allocates about 400 kilobytes the first time
// it is switched on, for ever; throws std::bad_alloc. Jobs that exist already are not counted. Thread-safe.
bool set_enabled(bool on);
inline bool enable() { return set_enabled(true); }
[[nodiscard]] bool is_enabled() noexcept;

// For what detects stalls: counts one in roost_stalls_total{kind}. Thread-safe, wait-free.
enum class stall_kind : unsigned char { body, runnable, ignored_cancel };
void count_stall(stall_kind kind) noexcept;
// For what records events: counts those that had no room, in roost_dropped_events_total.
void count_dropped_events(std::uint64_t n) noexcept;

// Shows the units of work below a shutdown node as roost_guards{node}. Keeps a handle.
[[nodiscard]] collector observe_guards(const shutdown& of, registry& in = registry::of_process());

// Shows how many values a channel holds, as roost_channel_depth{channel}. Requires that the channel outlives the collector.
template <class Channel>
[[nodiscard]] collector observe_depth(Channel& of, std::string_view name, registry& in = registry::of_process()) {
    return in.add_collector([&of, label = std::string(name)](samples& to) {
        to.gauge("roost_channel_depth", "Values that a channel holds.", double(of.size()), {{"channel", label}});
    });
}

}  // namespace roost::inline ROOST_ABI::metrics
