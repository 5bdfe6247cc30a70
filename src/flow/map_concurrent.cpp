#include <roost/flow/map_concurrent.hpp>

namespace roost::inline ROOST_ABI::detail {

void refuse_no_limit(site where) {
    panic("map_concurrent", {}, where, "a limit of zero would never start anything; pass at least one");
}

}  // namespace roost::inline ROOST_ABI::detail
