#pragma once

// The further failures that travel with a caught exception.
//
//   try {
//       co_await with_scope(fetch_both);
//   } catch (const net_error&) {
//       for (const std::exception_ptr& other : others_of(std::current_exception())) { ... }   // the second child's failure
//   }
//
// A scope throws its first failure, and the further ones travel with it. So do the earlier failures of a retry. They belong
// to that exception. A body that catches it has handled all of them: they are reported nowhere else. If no handler catches
// it, they are part of the job's outcome. From there they reach the scope above or the failure sink.

#include <roost/base/config.hpp>

#include <exception>
#include <vector>

namespace roost::inline ROOST_ABI {

// Returns the failures that travelled with `caught` into the running job, in order. Returns an empty vector outside of jobs.
// A job keeps them for the four latest exceptions that had any. It keeps older ones while an exception_ptr, a throw or a
// handler holds the exception, for at most a hundred exceptions. Beyond that, the failures of the oldest go to the failure
// sink.
[[nodiscard]] std::vector<std::exception_ptr> others_of(const std::exception_ptr& caught);

}  // namespace roost::inline ROOST_ABI
