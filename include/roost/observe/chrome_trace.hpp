#pragma once

// A recording as trace event JSON, for ui.perfetto.dev. Each thread is a track, with a slice for each run of a body. An
// arrow leads from the body that woke a job to the next run of that job. The life of a job and each use of a pooled resource
// are asynchronous slices. Cancels, levels, timers and stalls are instants.

#include <roost/observe/recording.hpp>

#include <string>

namespace roost::inline ROOST_ABI::observe {

// Returns valid JSON for any recording, also for a damaged one. Thread-safe. Throws std::bad_alloc.
[[nodiscard]] std::string to_chrome_trace(const recording& from);

}  // namespace roost::inline ROOST_ABI::observe
