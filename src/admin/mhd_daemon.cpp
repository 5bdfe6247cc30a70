// How http_loop uses libmicrohttpd: an event loop of our own, sockets that we accept, and limits of its own beside ours.

#include <roost/admin/detail/exchange.hpp>
#include <roost/admin/detail/http_loop.hpp>

#include <microhttpd.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>

namespace roost::inline ROOST_ABI::admin::detail {

namespace {

constexpr std::size_t memory_beside_header = 8192;  // of a connection: parsed fields, the head of the reply

unsigned whole_seconds(duration d) noexcept {
    const auto rounded = std::chrono::ceil<std::chrono::seconds>(d).count();
    return rounded < 1 ? 1U : static_cast<unsigned>(rounded);
}

}  // namespace

// What libmicrohttpd calls. No exception may reach it.
class mhd_calls {
public:
    static MHD_Result on_request(void* /*self*/, MHD_Connection* /*c*/, const char* /*url*/, const char* method,
                                 const char* /*version*/, const char* /*data*/, std::size_t* size, void** context) noexcept {
        *size = 0;
        if (*context == nullptr) {
            return MHD_NO;
        }
        try {
            return static_cast<exchange*>(*context)->look(method) ? MHD_YES : MHD_NO;
        } catch (...) {
            return MHD_NO;  // no memory, no thread: the connection is closed
        }
    }
    static void* on_target(void* self, const char* target, MHD_Connection* connection) noexcept {
        const MHD_ConnectionInfo* const info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
        if (info == nullptr || info->socket_context == nullptr) {
            return nullptr;
        }
        auto& who = *static_cast<client*>(info->socket_context);
        try {
            auto made =
                std::make_unique<exchange>(*static_cast<http_loop*>(self), connection, who, target == nullptr ? "" : target);
            who.set_request(made.get());
            return made.release();
        } catch (...) {
            return nullptr;
        }
    }
    static void on_completed(void* /*self*/, MHD_Connection* /*c*/, void** context,
                             MHD_RequestTerminationCode how) noexcept {
        const std::unique_ptr<exchange> ended(static_cast<exchange*>(*context));
        *context = nullptr;
        if (ended && how != MHD_REQUEST_TERMINATED_COMPLETED_OK) {
            reset_at_close(ended->who().fd());
        }
    }
    // What a dropped client has not taken is thrown away; otherwise the kernel would keep it for minutes.
    static void reset_at_close(int fd) noexcept {
        const linger none{1, 0};
        ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    }
    static void on_connection(void* self, MHD_Connection* /*c*/, void** context,
                              MHD_ConnectionNotificationCode what) noexcept {
        auto& loop = *static_cast<http_loop*>(self);
        if (what == MHD_CONNECTION_NOTIFY_STARTED) {
            *context = &loop.clients_.add(std::move(loop.next_client_));
        } else if (*context != nullptr) {
            client& gone = *static_cast<client*>(*context);
            delete gone.request();  // libmicrohttpd does not report the end of a request that it has no memory for
            loop.clients_.remove(gone);
            *context = nullptr;
        }
    }
    // Paths are compared as they were sent.
    static std::size_t leave_escaped(void* /*self*/, MHD_Connection* /*c*/, char* text) noexcept {
        return std::char_traits<char>::length(text);
    }
};

void http_loop::ended_daemon::operator()(MHD_Daemon* d) const noexcept { MHD_stop_daemon(d); }

MHD_Daemon* http_loop::start_daemon() {
    MHD_Daemon* const made = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME, 0, nullptr, nullptr, &mhd_calls::on_request,
        this, MHD_OPTION_CONNECTION_LIMIT, limits_.connections() + 2 * accepts_per_turn,          //
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, limits_.header() + memory_beside_header,        //
        MHD_OPTION_CONNECTION_TIMEOUT, whole_seconds(limits_.idle_within()),                //
        MHD_OPTION_STRICT_FOR_CLIENT, 1,                                                    //
        MHD_OPTION_URI_LOG_CALLBACK, &mhd_calls::on_target, this,                           //
        MHD_OPTION_UNESCAPE_CALLBACK, &mhd_calls::leave_escaped, this,                      //
        MHD_OPTION_NOTIFY_COMPLETED, &mhd_calls::on_completed, this,                        //
        MHD_OPTION_NOTIFY_CONNECTION, &mhd_calls::on_connection, this, MHD_OPTION_END);
    if (made == nullptr) {
        throw std::system_error(errno, std::system_category(), "cannot start the HTTP server for '" + address_ + "'");
    }
    return made;
}

}  // namespace roost::inline ROOST_ABI::admin::detail
