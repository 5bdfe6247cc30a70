#include <roost/task/limited_scope.hpp>

namespace roost::inline ROOST_ABI::detail {

void refuse_no_places() { panic("with_limited_scope with a limit of zero would never run a child"); }

}  // namespace roost::inline ROOST_ABI::detail
