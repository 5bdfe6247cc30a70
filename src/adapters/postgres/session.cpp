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
        adapters_access::cancels_of(*sockets).withdraw(*request);
    }
    if (conn != nullptr) {
        PQfinish(std::exchange(conn, nullptr));
    }
}

void session::request_returned() noexcept {
    lock.lock();
    request_runs = false;
    exchange* waits = current;
    const bool is_last = waits != nullptr && waits->is_answered_ && !waits->is_finished_ && sockets->withdraw(*waits);
    if (is_last) {
        waits->is_finished_ = true;
        current = nullptr;
    }
    lock.unlock();
    if (is_last) {
        waits->resume_later();
    }
}

}  // namespace roost::inline ROOST_ABI::postgres::detail
