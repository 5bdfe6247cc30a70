#include <roost/task/timeout.hpp>

namespace roost::inline ROOST_ABI::detail {

void throw_timed_out(site where) { throw timed_out("the deadline set at " + where.to_string() + " has passed"); }

}  // namespace roost::inline ROOST_ABI::detail
