#include "session.hpp"

#include "exchange.hpp"

#include <array>
#include <new>

namespace roost::inline ROOST_ABI::postgres::detail {

cancel_call::cancel_call(const std::string& name, const std::shared_ptr<session>& of)
    : side_call("a cancel request of '" + name + "'"), key_(PQgetCancel(of->conn)), session_(of) {
    if (key_ == nullptr) {
        throw std::bad_alloc();
    }
}
cancel_call::~cancel_call() { PQfreeCancel(key_); }

void cancel_call::run() noexcept {
    std::array<char, 256> why{};
    // If a request fails, the budget ends the statement.
    PQcancel(key_, why.data(), static_cast<int>(why.size()));
}

void cancel_call::returned() noexcept {
    if (const std::shared_ptr<session> s = session_.lock()) {
        s->request_returned();
    }
}

session::~session() { close(); }

void session::close() noexcept {
    broken = true;
    if (request) {
        adapters_access::cancels_of(*shared).withdraw(*request);
    }
    if (socket.is_open() && PQsocket(conn) == socket.native_handle()) {
        socket.close();
    } else {
        socket.close_after_owner();  // libpq has closed it: the number may be another file's
    }
    if (conn != nullptr) {
        PQfinish(std::exchange(conn, nullptr));
    }
}

void session::send_request() noexcept {
    if (!adapters_access::cancels_of(*shared).submit(request)) {
        request_returned();
    }
}

// The statement goes on: it is answered, or asks again later.
void session::request_returned() noexcept {
    lock.lock();
    request_runs = false;
    exchange* const waits = current;
    if (waits != nullptr) {
        waits->ask_again_at_ = ext::deadline_after(now(), exchange::request_interval);
    }
    const bool is_claimed = waits != nullptr && waits->claim();
    lock.unlock();
    if (is_claimed) {
        waits->post();
    }
}

}  // namespace roost::inline ROOST_ABI::postgres::detail
