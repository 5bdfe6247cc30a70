#pragma once

// A load generator on loopback: a fixed number of clients share one pace, bounded in time and count.

#include <roost/service/service.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace demo {

struct load_counts {
    std::atomic<std::uint64_t> sent{0};
    std::atomic<std::uint64_t> answered{0};   // completely
    std::atomic<std::uint64_t> created{0};    // of these: 201
    std::atomic<std::uint64_t> broken{0};     // sent and not answered completely
};

class load {
public:
    load();
    ~load();
    load(const load&) = delete;
    load& operator=(const load&) = delete;

    // As a job of `owner`: `rate` requests per second for `seconds`, or until the service is no longer ready.
    void start(roost::service::host& host, roost::service::component& owner, std::uint16_t port, double rate,
               double seconds);
    void join();

    load_counts counts;

private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

}  // namespace demo
