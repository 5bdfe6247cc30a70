#pragma once

// The HTTP side: Beast on the threads of an io_context, every connection a job.

#include "shop.hpp"

#include <roost/service/service.hpp>
#include <roost/sync/semaphore.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace demo {

class intake {
public:
    explicit intake(std::uint32_t most_connections);
    ~intake();
    intake(const intake&) = delete;
    intake& operator=(const intake&) = delete;

    // On loopback. Empty, or one sentence that says why not.
    [[nodiscard]] std::string listen(std::uint16_t port);
    [[nodiscard]] std::uint16_t port() const noexcept;

    // Accepts as a job of `door` until that is stopped; connections are jobs of `sessions`.
    void open(shop& s, roost::service::component& door, roost::service::component& sessions);
    // When no job is left.
    void join();

    // What /metrics says.
    [[nodiscard]] static std::string metrics(shop& s);

private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

}  // namespace demo
