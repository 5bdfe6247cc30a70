#pragma once

// A flight recording as trace event JSON, which ui.perfetto.dev, chrome://tracing and speedscope open: a track per thread with a
// slice for each run of a body, flow arrows from the body that woke a job to its next run, an asynchronous slice for the life of
// each job and each use of a pooled resource, and instants for cancels, levels, timers and stalls.

#include <roost/observe/recording.hpp>

#include <string>

namespace roost::inline ROOST_ABI::observe {

// Returns valid JSON for any recording, also a damaged one. Throws std::bad_alloc.
[[nodiscard]] std::string to_chrome_trace(const recording& from);

}  // namespace roost::inline ROOST_ABI::observe
