#include "admin_door.hpp"

#if defined(DEMO_HAS_ADMIN)
#include <roost/admin/admin.hpp>
#endif

namespace demo {

#if defined(DEMO_HAS_ADMIN)
bool has_admin_door() noexcept { return true; }
void add_admin_door(roost::service::options& to, const std::string& address) { to.attach(roost::admin::listen(address)); }
#else
bool has_admin_door() noexcept { return false; }
void add_admin_door(roost::service::options& /*to*/, const std::string& /*address*/) {}
#endif

}  // namespace demo
