#include <roost/admin/http_address.hpp>

namespace roost::inline ROOST_ABI::admin {

http_address http_address::inherited(int descriptor) { return http_address("fd:" + std::to_string(descriptor)); }

}  // namespace roost::inline ROOST_ABI::admin
