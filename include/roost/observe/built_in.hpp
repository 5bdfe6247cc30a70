#pragma once

// The metrics of the library itself, in registry::of_process(). Those of runtimes, pools and services are always there. Jobs
// and times are measured while set_enabled(true) is in effect. The labels are in braces.
//
//   always         roost_workers{runtime,state} roost_timers{runtime} roost_blocking_busy{runtime} roost_blocking_queued{runtime}
//                  roost_pool_{capacity,live,idle,out,waiting}{pool} roost_pool_{created,create_failures}_total{pool}
//                  roost_phase{service,phase} roost_ready{service} roost_ledger_total{service,outcome}
//                  roost_ledger_open{service} roost_guards{node} roost_stalls_total{kind} roost_dropped_events_total
//   while enabled  roost_jobs{state} roost_jobs_total{outcome,name} roost_run_delay_seconds roost_body_seconds
//                  roost_timer_lateness_seconds roost_lock_wait_seconds roost_pool_wait_seconds{pool}
//
// Counts are exact. Of run delay and body time, a thread with more than about 4000 a second measures a sample. A sample
// counts for itself and for those since the sample before, at most 384. Objects with equal labels are added up. A scrape
// shows a runtime, pool or service from its constructor to its end. observe_guards() adds a shutdown node, and
// observe_depth() a channel.

#include <roost/observe/registry.hpp>
#include <roost/shutdown/shutdown.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace roost::inline ROOST_ABI::metrics {

// Switches the measuring of jobs and times on or off. Returns true if it was on before. The first call with true allocates 300 to
// 600 kilobytes, by the number of hardware threads. They are never freed. Jobs that exist already are not counted. Thread-safe.
// Throws std::bad_alloc.
bool set_enabled(bool on);
// As set_enabled(true).
inline bool enable() { return set_enabled(true); }
// Returns true while jobs and times are measured. Thread-safe.
[[nodiscard]] bool is_enabled() noexcept;

// body: a body ran for longer than the soft budget. runnable: a job began too late. ignored_cancel: a cancelled job has not
// ended.
enum class stall_kind : unsigned char { body, runnable, ignored_cancel };
// For a program's own detector of stalls: adds one to roost_stalls_total{kind}. Thread-safe, wait-free.
void count_stall(stall_kind kind) noexcept;
// For a program's own recorder of events: adds the events that had no room to roost_dropped_events_total. Thread-safe,
// wait-free.
void count_dropped_events(std::uint64_t n) noexcept;

// Exports the units of work below a shutdown node as roost_guards{node}, until the collector is destroyed. The collector
// keeps a handle to the node. Throws std::bad_alloc.
[[nodiscard]] collector observe_guards(const shutdown& of, registry& in = registry::of_process());

// Exports how many values are in a channel, as roost_channel_depth{channel}, until the collector is destroyed. Requires that
// the channel outlives the collector. Throws std::bad_alloc.
template <class Channel>
[[nodiscard]] collector observe_depth(Channel& of, std::string_view name, registry& in = registry::of_process()) {
    return in.add_collector([&of, label = std::string(name)](samples& to) {
        to.gauge("roost_channel_depth", "Values that a channel holds.", double(of.size()), {{"channel", label}});
    });
}

}  // namespace roost::inline ROOST_ABI::metrics
