#pragma once

// /metrics, /readyz and /livez on a listener of their own, where libmicrohttpd was found.

#include <roost/service/service_options.hpp>

#include <string>

namespace demo {

[[nodiscard]] bool has_admin_door() noexcept;
// Does nothing where libmicrohttpd was not found: /metrics of the service's own door is always there.
void add_admin_door(roost::service::options& to, const std::string& address);

}  // namespace demo
