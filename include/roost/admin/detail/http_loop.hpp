#pragma once

// The thread of an http_listener: accepts, lets libmicrohttpd read requests and write replies, calls handlers or hands requests to
// the threads of their routes, and enforces the limits. libmicrohttpd is used by this thread alone.

#include <roost/admin/detail/client_table.hpp>
#include <roost/admin/detail/inbox.hpp>
#include <roost/admin/detail/listening_socket.hpp>
#include <roost/admin/detail/route_worker.hpp>
#include <roost/admin/http_listener.hpp>

#include <map>
#include <memory>
#include <string>

struct MHD_Connection;
struct MHD_Daemon;

namespace roost::inline ROOST_ABI::admin::detail {

class http_loop {
public:
    // Throws std::system_error, std::bad_alloc.
    http_loop(const http_address& at, http_routes routes, const http_limits& limits, http_listener::notice tell);
    ~http_loop();
    http_loop(const http_loop&) = delete;
    http_loop& operator=(const http_loop&) = delete;

    [[nodiscard]] const std::string& address() const noexcept { return address_; }
    [[nodiscard]] unsigned short port() const noexcept { return port_; }

private:
    friend class mhd_calls;
    class ended_daemon {
    public:
        void operator()(MHD_Daemon* d) const noexcept;
    };
    static constexpr unsigned accepts_per_turn = 16;
    [[nodiscard]] MHD_Daemon* start_daemon();
    void run() noexcept;
    void run_once(time_point until) noexcept;
    void sleep(time_point until) noexcept;
    void accept_some(time_point now) noexcept;
    void add(int fd, time_point now) noexcept;
    void take_posted() noexcept;
    void enforce(time_point now) noexcept;
    void look_for_gone(time_point now) noexcept;
    void drop(client& c) noexcept;
    // Waits a short time for handlers and replies, then ends every connection.
    void wind_up() noexcept;
    template <class Sentence>
    void tell(const Sentence& sentence) const noexcept;
    [[nodiscard]] std::string path_of(const route_worker* w) const;
    void give_up(client& c, time_point now) noexcept;
    [[nodiscard]] route_worker* worker_of(const http_routes::route& r) noexcept;

    friend class exchange;
    const http_routes routes_;
    const http_limits limits_;
    const http_listener::notice tell_;
    listening_socket socket_;
    const std::string address_;
    const unsigned short port_;
    const std::shared_ptr<inbox> inbox_;
    client_table clients_;
    std::map<const http_routes::route*, std::unique_ptr<route_worker>> workers_;
    std::unique_ptr<client> next_client_;  // for the connection that is being added
    std::unique_ptr<MHD_Daemon, ended_daemon> daemon_;
    time_point accept_again_ = time_point::min();
    time_point next_look_ = no_deadline;  // for clients that have gone while their handler runs
    time_point stuck_told_ = time_point::min();
    atomic<bool> ending_{false};
    thread thread_;
};

}  // namespace roost::inline ROOST_ABI::admin::detail
