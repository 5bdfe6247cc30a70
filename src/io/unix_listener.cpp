#include <roost/io/unix_listener.hpp>

#include <sys/socket.h>

namespace roost::inline ROOST_ABI::io {

result<unix_listener> unix_listener::bind(const endpoint& at, const detail::listen_settings& how) noexcept {
    constexpr const char* what = "unix_listener::bind";
    if (at.family() != AF_UNIX) {
        return {std::make_error_code(std::errc::address_family_not_supported), what};
    }
    const detail::path_lock held(at);
    result<detail::pollable_owner> made = detail::listen_on(at, how);
    if (made.code() == std::errc::address_in_use && detail::bound_path::remove_stale(at)) {
        made = detail::listen_on(at, how);
    }
    return made ? result<unix_listener>(std::in_place, unix_listener(std::move(*made), detail::bound_path(at)))
                : result<unix_listener>(made.code(), what);
}

}  // namespace roost::inline ROOST_ABI::io
