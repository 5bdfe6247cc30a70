#pragma once

// Used by the listener's thread alone.

#include <roost/admin/detail/client_table.hpp>
#include <roost/admin/detail/inbox.hpp>
#include <roost/admin/detail/route_worker.hpp>
#include <roost/admin/http.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

struct MHD_Connection;

namespace roost::inline ROOST_ABI::admin::detail {

class http_loop;

// One request, from its first line to the end of its reply. Owned by libmicrohttpd's connection.
class exchange {
public:
    enum class step : std::uint8_t { begun, accepted, called, replied };

    exchange(http_loop& loop, MHD_Connection* connection, client& who, std::string target)
        : loop_(loop), connection_(connection), who_(who), target_(std::move(target)) {}
    ~exchange();
    exchange(const exchange&) = delete;
    exchange& operator=(const exchange&) = delete;

    // Called by libmicrohttpd when the header has come, and again when the request is complete or resumed. Returns false if the
    // connection has to be closed.
    [[nodiscard]] bool look(const char* method);
    // The call has ended, or the stream has something to send.
    void wake() noexcept;
    // Makes the client receive 503 although its handler has not returned.
    void give_up(const char* why) noexcept;
    [[nodiscard]] bool is_suspended() const noexcept { return suspended_; }
    [[nodiscard]] client& who() const noexcept { return who_; }
    // Returns how long the handler of its route has not returned.
    [[nodiscard]] duration stuck_for(time_point at) const noexcept {
        return worker_ == nullptr ? duration(0) : worker_->stuck_for(at);
    }
    // Null if its route has none.
    [[nodiscard]] const route_worker* worker() const noexcept { return worker_; }
    // Ends a stream whose client has gone, or whose listener ends.
    void end_stream() noexcept;

private:
    friend class streaming;
    [[nodiscard]] bool begin(std::string_view method);
    [[nodiscard]] bool dispatch();
    [[nodiscard]] bool refuse(unsigned status, const char* why);
    [[nodiscard]] bool send(http_reply reply);
    [[nodiscard]] bool has_body() const noexcept;
    [[nodiscard]] http_request request() const;
    void suspend() noexcept;
    void resume() noexcept;

    http_loop& loop_;
    MHD_Connection* const connection_;
    client& who_;
    const std::string target_;
    step step_ = step::begun;
    bool suspended_ = false;
    bool is_head_ = false;
    const char* given_up_ = nullptr;
    std::shared_ptr<http_call> call_;
    route_worker* worker_ = nullptr;
    std::shared_ptr<stream_bell> bell_;
};

// Wakes a stream's exchange.
class stream_bell final : public parcel {
public:
    explicit stream_bell(std::shared_ptr<inbox> to) noexcept : to_(std::move(to)) {}
    [[nodiscard]] inbox& to() const noexcept { return *to_; }
    [[nodiscard]] bool is_over() const noexcept { return over_; }
    void set_over() noexcept { over_ = true; }

private:
    const std::shared_ptr<inbox> to_;
    bool over_ = false;  // used by the listener's thread
};

}  // namespace roost::inline ROOST_ABI::admin::detail
