#pragma once

// Counters and events of jobs. Both are compiled in, and off until they are requested. While they are off, each place that
// could report costs one plain load. These are four in the life of a job without a handle, and seven with one. Each cancel
// and each waiter costs one more.
//
//   set_job_counting(true);                           usually at the start of the program
//   job_counts n = job_counts_now();                  n.created() - n.finished(): alive
//
//   class log_failures final : public job_observer {
//       void on_event(const job_event& e) noexcept override { if (e.state() == job_state::failed) ... }
//   };
//   log_failures log;
//   observation on(log);                              until it is destroyed

#include <roost/task/job_event.hpp>

#include <cstddef>

namespace roost::inline ROOST_ABI::observe {

// Switches counting on or off. Returns true if it was on before. Thread-safe.
bool set_job_counting(bool on) noexcept;
[[deprecated("use set_job_counting(on)")]] inline bool count_jobs(bool on) noexcept { return set_job_counting(on); }
// Returns the counts. They are exact while no job changes. Otherwise each number is one that it had during the call.
[[nodiscard]] job_counts job_counts_now() noexcept;

// Registers an observer of all jobs of the program, from the constructor to the destructor. The destructor waits until no
// call of the observer is running; none follows. So the observer itself must not call it. Throws error(refused) if eight
// observers exist.
class observation {
public:
    explicit observation(job_observer& observer);
    observation(const observation&) = delete;
    observation& operator=(const observation&) = delete;
    ~observation();

private:
    std::size_t slot_;
};

}  // namespace roost::inline ROOST_ABI::observe
