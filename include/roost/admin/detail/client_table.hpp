#pragma once

// The connections of a listener: which are overdue, and which makes room for the next. A plain value, used by one thread.

#include <roost/base/clock.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace roost::inline ROOST_ABI::admin::detail {

class exchange;

enum class client_phase : std::uint8_t {
    reading,    // its header is not complete
    handling,   // a handler runs
    sending,    // the reply is on its way
    streaming,  // a stream, which may last
    dropped,    // its socket was shut down, and it is about to go
};

class client {
public:
    client(int fd, time_point since, time_point deadline) noexcept : fd_(fd), since_(since), deadline_(deadline) {}
    [[nodiscard]] int fd() const noexcept { return fd_; }
    [[nodiscard]] time_point since() const noexcept { return since_; }
    [[nodiscard]] client_phase phase() const noexcept { return phase_; }
    [[nodiscard]] time_point deadline() const noexcept { return deadline_; }
    // Null before the first line of its request and after the end of the reply.
    [[nodiscard]] exchange* request() const noexcept { return request_; }
    void set_request(exchange* e) noexcept { request_ = e; }
    void enter(client_phase p, time_point deadline) noexcept {
        phase_ = p;
        deadline_ = deadline;
    }

private:
    int fd_;
    client_phase phase_ = client_phase::reading;
    time_point since_;
    time_point deadline_;
    exchange* request_ = nullptr;
};

class client_table {
public:
    // A client that has just connected is about to send its request.
    static constexpr duration patience = std::chrono::milliseconds(100);

    // Throws std::bad_alloc.
    explicit client_table(std::size_t most) { clients_.reserve(most); }

    // Requires that there is room. Returns a place that stays until remove().
    client& add(std::unique_ptr<client> c) noexcept {
        clients_.push_back(std::move(c));
        return *clients_.back();
    }
    void remove(const client& c) noexcept;

    [[nodiscard]] bool is_full() const noexcept { return clients_.size() == clients_.capacity(); }
    [[nodiscard]] std::size_t size() const noexcept { return clients_.size(); }
    // Returns how many are not dropped.
    [[nodiscard]] std::size_t live() const noexcept;
    // Returns no_deadline if no client has one.
    [[nodiscard]] time_point next_deadline() const noexcept;
    // Returns a client whose deadline has passed, or null.
    [[nodiscard]] client* overdue(time_point now) const noexcept;
    // Returns the client that makes room for a new one: the oldest whose header has not come within `patience`. If there is none,
    // the oldest without a stream; else the oldest. Returns null if all are dropped.
    [[nodiscard]] client* to_drop(time_point now) const noexcept;
    [[nodiscard]] const std::vector<std::unique_ptr<client>>& all() const noexcept { return clients_; }

private:
    template <class Is>
    [[nodiscard]] client* oldest(Is is) const noexcept;
    std::vector<std::unique_ptr<client>> clients_;  // the oldest first
};

}  // namespace roost::inline ROOST_ABI::admin::detail
