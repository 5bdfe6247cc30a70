#include <roost/task/retry.hpp>

namespace roost::inline ROOST_ABI::detail {

void refuse_no_attempts() { panic("retry with zero attempts has no result"); }

}  // namespace roost::inline ROOST_ABI::detail
