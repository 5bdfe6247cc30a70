#include <roost/observe/detail/registry_core.hpp>

namespace roost::inline ROOST_ABI::detail {

void read_built_in(metrics::samples&, scrape&) {}

}  // namespace roost::inline ROOST_ABI::detail
