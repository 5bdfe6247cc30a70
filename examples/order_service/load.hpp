#pragma once

// A load generator on loopback: a fixed number of clients share one pace, bounded in time and count.

#include <roost/io/io.hpp>
#include <roost/service/service.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/task.hpp>

#include <atomic>
#include <cstdint>

namespace demo {

struct load_counts {
    std::atomic<std::uint64_t> sent{0};
    std::atomic<std::uint64_t> answered{0};   // completely
    std::atomic<std::uint64_t> created{0};    // of these: 201
    std::atomic<std::uint64_t> broken{0};     // sent and not answered completely
};

class load {
public:
    // As a job of `owner`: `rate` requests per second for `seconds`, or until the service is no longer ready.
    void start(roost::service::host& host, roost::service::component& owner, std::uint16_t port, double rate,
               double seconds);

    load_counts counts;

private:
    enum class reply { broken, last, more };

    [[nodiscard]] bool is_over() const { return next_ >= most_ || !host_->is_ready(); }
    roost::task<> run();
    static roost::task<> start_clients(roost::scope& s, load& self);
    roost::task<> run_client();
    roost::task<> converse(roost::io::tcp_stream& s);
    roost::task<reply> exchange(roost::io::tcp_stream& s, std::uint64_t n);

    roost::service::host* host_ = nullptr;
    std::uint16_t port_ = 0;
    double rate_ = 0;
    std::uint64_t most_ = 0;
    std::atomic<std::uint64_t> next_{0};
    roost::time_point start_;
};

}  // namespace demo
