#pragma once

// The results of waits: outcome, acquired, received, sent, supervised and others. Every one has these members:
//
//   if (answer)              true if there is a value (for sent: if the value was sent)
//   answer.value()           returns the value; throws error(), or an error with the status if that is null
//   answer.status()          returns a wait_status
//   answer.error()           returns the error as an exception_ptr; null if there is a value or the wait was cancelled. A try_
//                            form that found nothing has error(refused) in channels and broadcasts, null in pools
//   answer.to_outcome()      returns it as an outcome
//
// value() of a cancelled outcome or supervised ends the program: in a task, a cancelled await does not return. `*answer` and
// `answer->`, where a result has them, end the program if there is no value.

#include <roost/base/detail/answer.hpp>
#include <roost/base/outcome.hpp>

#include <string_view>

namespace roost::inline ROOST_ABI {

[[nodiscard]] std::string_view to_string(wait_status status) noexcept;

}  // namespace roost::inline ROOST_ABI
