#pragma once

// Where an http_listener listens.

#include <roost/base/config.hpp>

#include <concepts>
#include <string>
#include <string_view>
#include <utility>

namespace roost::inline ROOST_ABI::admin {

// The text is checked when a listener binds, not here. Constructors throw std::bad_alloc.
class http_address {
public:
    // A port of 127.0.0.1, for programs on this machine. Port 0 is any free port.
    template <std::integral Port>
    explicit(false) http_address(Port port) : text_("127.0.0.1:" + std::to_string(port)) {}
    // "127.0.0.1:9090", "[::1]:9090", "*:9090" (every address of this machine), "9090" (127.0.0.1), "unix:/run/app.sock" (mode
    // 0600), "fd:3" (a listening socket that the process has inherited).
    explicit(false) http_address(std::string text) noexcept : text_(std::move(text)) {}
    explicit(false) http_address(std::string_view text) : text_(text) {}
    explicit(false) http_address(const char* text) : text_(text) {}
    // Returns the address of a socket that listens. The listener duplicates it: the caller keeps the descriptor.
    [[nodiscard]] static http_address inherited(int descriptor);

    // Returns the address as text.
    [[nodiscard]] const std::string& text() const noexcept { return text_; }

private:
    std::string text_;
};

}  // namespace roost::inline ROOST_ABI::admin
