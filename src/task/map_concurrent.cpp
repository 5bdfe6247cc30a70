#include <roost/task/map_concurrent.hpp>

namespace roost::inline ROOST_ABI::detail {

void refuse_no_limit() { panic("map_concurrent with a limit of zero would never start anything"); }

}  // namespace roost::inline ROOST_ABI::detail
