#include <roost/asio/detail/net.hpp>

namespace roost::inline ROOST_ABI::detail {

#if defined(ROOST_ASIO_STANDALONE)
const char asio_layer_is_built_for_standalone = 0;
#else
const char asio_layer_is_built_for_boost = 0;
#endif

}  // namespace roost::inline ROOST_ABI::detail
