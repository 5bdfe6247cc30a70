#pragma once

#include <roost/base/clock.hpp>
#include <roost/base/config.hpp>

#include <cstdint>
#include <string_view>

namespace roost::inline ROOST_ABI::detail {

// Writes text, which includes its line breaks, to standard error. Takes no lock of stdio. Blocks at most `limit`, and at
// most 5 ms for another thread that is writing.
// Returns false if not all of it was written; the rest is dropped and counted. While standard error is stuck, further calls do
// not wait for its reader. The first text after that follows a line with the number of texts dropped.
// The limit holds for pipes, terminals and sockets; a write to a file may block longer. Thread-safe.
bool write_stderr(std::string_view text, duration limit = duration(0)) noexcept;

// Returns the number of texts that were dropped, whole or in part, since the program began.
[[nodiscard]] std::uint64_t stderr_texts_dropped() noexcept;

}  // namespace roost::inline ROOST_ABI::detail
