#pragma once

// Connecting and accepting: operations whose value is a new stream.

#include <roost/io/detail/operation.hpp>
#include <roost/io/endpoint.hpp>

namespace roost::inline ROOST_ABI::io::detail {

// Creates the socket when it is awaited. A cancelled operation closes the socket.
class connecting : public operation {
public:
    explicit connecting(const endpoint& to) noexcept
        : operation(nullptr, direction::out, &connecting::attempt, "connect"), to_(to) {}
    connecting(connecting&& other) noexcept = default;
    ~connecting() { abandon(); }
    [[nodiscard]] bool await_ready() noexcept { return open() || operation::await_ready(); }
    void run_blocking(time_point deadline) noexcept {
        if (!open()) {
            operation::run_blocking(deadline);
        }
    }

protected:
    // Returns true if it is done already, with an error.
    [[nodiscard]] bool open() noexcept;
    [[nodiscard]] pollable_owner take() noexcept;

private:
    static bool attempt(operation& self, readiness::snapshot seen) noexcept;

    endpoint to_;
    pollable_owner made_;
};

template <class Stream>
class connect_operation : public typed_operation<connect_operation<Stream>, connecting> {
public:
    using typed_operation<connect_operation<Stream>, connecting>::typed_operation;
    [[nodiscard]] result<Stream> result_of() {
        return this->has_failed() ? result<Stream>(this->code(), this->what())
                                  : result<Stream>(std::in_place, Stream(this->take()));
    }
};

class accepting : public operation {
public:
    explicit accepting(pollable* on) noexcept : operation(on, direction::in, &accepting::attempt, "accept") {}

protected:
    [[nodiscard]] pollable_owner take() noexcept { return std::move(made_); }

private:
    static bool attempt(operation& self, readiness::snapshot seen) noexcept;

    pollable_owner made_;
};

template <class Stream>
class accept_operation : public typed_operation<accept_operation<Stream>, accepting> {
public:
    using typed_operation<accept_operation<Stream>, accepting>::typed_operation;
    [[nodiscard]] result<Stream> result_of() {
        return this->has_failed() ? result<Stream>(this->code(), this->what())
                                  : result<Stream>(std::in_place, Stream(this->take()));
    }
};

// The options of a listener.
class listen_settings {
public:
    constexpr listen_settings() noexcept = default;
    // Several processes may listen on one port; the kernel distributes the connections.
    constexpr listen_settings& share_port(bool on = true) noexcept { return shares_port_ = on, *this; }
    // How many connections may wait to be accepted. The kernel lowers it to net.core.somaxconn.
    constexpr listen_settings& backlog(int most) noexcept { return backlog_ = most, *this; }
    // The mode of a Unix socket's file, such as 0600. The process's umask takes bits away. Default: what the umask leaves.
    constexpr listen_settings& mode(unsigned bits) noexcept { return mode_ = bits, *this; }

private:
    friend result<pollable_owner> listen_on(const endpoint& at, const listen_settings& how) noexcept;
    bool shares_port_ = false;
    int backlog_ = 4096;
    unsigned mode_ = 0777;
};
// Creates a listening socket. Returns its owner.
[[nodiscard]] result<pollable_owner> listen_on(const endpoint& at, const listen_settings& how) noexcept;

// Takes ownership of a descriptor that does not block. Returns an empty owner, and closes it, if there is no memory.
[[nodiscard]] pollable_owner own_socket(int fd, const endpoint& label, bool is_ready) noexcept;
[[nodiscard]] endpoint local_of(int fd) noexcept;
[[nodiscard]] endpoint peer_of(int fd) noexcept;

}  // namespace roost::inline ROOST_ABI::io::detail
