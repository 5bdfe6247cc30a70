#pragma once

#include <roost/base/clock.hpp>
#include <roost/base/config.hpp>

#include <cstdint>
#include <string_view>

namespace roost::inline ROOST_ABI {

// Writes text, which ends its own lines, to standard error. Takes no lock of stdio and waits at most `limit` for a reader.
// Returns false if not all of it was taken; what is missing is dropped and counted. While standard error is stuck, further
// calls do not wait at all. The first text that is taken again comes after a line with the number of texts dropped.
// For every thread that others depend on. Limits pipes, terminals and sockets; a file is written as it is.
bool write_stderr(std::string_view text, duration limit = duration(0)) noexcept;

// Number of texts that were dropped, whole or in part, since the program began.
[[nodiscard]] std::uint64_t stderr_texts_dropped() noexcept;

}  // namespace roost::inline ROOST_ABI
