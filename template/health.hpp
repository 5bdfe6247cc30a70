#pragma once

// /healthz and /readyz for probes, without an HTTP library: one request per connection. If no worker of the runtime is free,
// there is no answer, and the probe fails by its own time limit.

#include <roost/service/host.hpp>

class health_server {
public:
    // Throws std::system_error when the port is taken. Ends when the component is stopped.
    static void start(roost::service::host& h, roost::service::component& in, unsigned short port);
};
