#pragma once

// The door: takes connections, and serves each as a job of its own.

#include "shop.hpp"

#include <roost/io/io.hpp>
#include <roost/service/service.hpp>
#include <roost/sync/semaphore.hpp>

#include <cstdint>
#include <string>

namespace demo {

class intake {
public:
    explicit intake(std::uint32_t most_connections) : places_(most_connections, "connections") {}
    intake(const intake&) = delete;
    intake& operator=(const intake&) = delete;

    // On loopback. Empty, or one sentence that says why not.
    [[nodiscard]] std::string listen(std::uint16_t port);
    [[nodiscard]] std::uint16_t port() const noexcept { return listener_.local().port(); }

    // Accepts as a job of `door` until that is stopped; connections are jobs of `sessions`.
    void open(shop& s, roost::service::component& door, roost::service::component& sessions);

private:
    roost::task<> accept_all(shop& s, const roost::shutdown& door, roost::service::component& sessions);

    roost::io::tcp_listener listener_;
    roost::semaphore places_;
};

}  // namespace demo
