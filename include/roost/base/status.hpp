#pragma once

// The results of waits. Every kind of answer has the same members:
//
//   if (answer)              true if there is a value (for sent: if the value was sent)
//   answer.value()           returns the value; throws error(), or an error with the status if that is null
//   answer.status()          returns a wait_status
//   answer.error()           returns the error as an exception_ptr; null if there is a value, or if it was cancelled
//   answer.to_outcome()      returns it as an outcome
//
// `*answer` and `answer->` end the program with a sentence if there is no value.

#include <roost/base/detail/answer.hpp>
#include <roost/base/outcome.hpp>

#include <string_view>

namespace roost::inline ROOST_ABI {

[[nodiscard]] std::string_view to_string(wait_status status) noexcept;

}  // namespace roost::inline ROOST_ABI
