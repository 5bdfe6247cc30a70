#pragma once

// The further failures that travel with a caught exception.
//
//   try {
//       co_await with_scope(fetch_both);
//   } catch (const net_error&) {
//       for (const std::exception_ptr& other : others_of(std::current_exception())) { ... }   // the second child's failure
//   }
//
// A scope throws its first failure; the further ones travel with it, as do the earlier attempts of a retry. They belong to
// that exception. A body that catches it has handled all of them: they are reported nowhere else. If no handler catches it,
// they arrive with it in the outcome of the job, and from there in the scope above or in the failure sink.

#include <roost/base/config.hpp>

#include <exception>
#include <vector>

namespace roost::inline ROOST_ABI {

// Returns the failures that travelled with `caught` into the running job, in order. Empty outside of jobs. A job remembers
// them for the four latest exceptions that brought any, and for older ones as long as an exception_ptr, a throw or a handler holds
// the exception. Of more than a hundred such, those of the oldest go to the failure sink.
[[nodiscard]] std::vector<std::exception_ptr> others_of(const std::exception_ptr& caught);

}  // namespace roost::inline ROOST_ABI
