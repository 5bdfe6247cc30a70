#pragma once

// Accepts connections to a Unix socket: a path, or an abstract name, which is no file.
//
//   auto door = io::unix_listener::bind(io::endpoint::parse("unix:/run/app.sock").value()).value();
//   io::unix_stream peer = co_await door.accept().or_throw();
//
// bind() replaces the file of a socket that a dead process left behind. If a process still listens there, bind() returns
// EADDRINUSE. close() removes the file, unless it belongs to another socket by then. In a forked child close() leaves the file
// alone.

#include <roost/io/detail/bound_path.hpp>
#include <roost/io/detail/socket_operations.hpp>
#include <roost/io/unix_stream.hpp>

namespace roost::inline ROOST_ABI::io {

class unix_listener {
public:
    unix_listener() noexcept = default;
    // Binds and listens. Of the options the backlog and the mode have an effect.
    [[nodiscard]] static result<unix_listener> bind(const endpoint& at,
                                                    const detail::listen_settings& how = detail::listen_settings()) noexcept;
    unix_listener(unix_listener&&) noexcept = default;
    unix_listener& operator=(unix_listener&& other) noexcept {
        if (this != &other) {
            close();
            path_ = std::move(other.path_);
            state_ = std::move(other.state_);
        }
        return *this;
    }
    ~unix_listener() { close(); }

    // Completes with result<unix_stream>. Without a free descriptor it behaves as tcp_listener::accept().
    [[nodiscard]] detail::accept_operation<unix_stream> accept() noexcept {
        return detail::accept_operation<unix_stream>(state_.get());
    }

    [[nodiscard]] endpoint local() const noexcept { return detail::local_of(native_handle()); }
    // Removes the file, and ends accept() of other tasks, with errc::closed. Does nothing if it is closed. May be called while
    // other tasks accept, but only by one thread at a time.
    void close() noexcept {
        path_.remove();  // first: another process may bind at once, and its file must stay
        state_.close();
    }
    [[nodiscard]] bool is_open() const noexcept { return state_.is_open(); }
    [[nodiscard]] int native_handle() const noexcept { return state_.native_handle(); }

private:
    unix_listener(detail::pollable_owner state, detail::bound_path path) noexcept
        : path_(std::move(path)), state_(std::move(state)) {}

    detail::bound_path path_;
    detail::pollable_owner state_;
};

}  // namespace roost::inline ROOST_ABI::io
