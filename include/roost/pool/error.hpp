#pragma once

#include <roost/base/error.hpp>
#include <roost/base/status.hpp>

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

namespace roost::inline ROOST_ABI {

enum class pool_operation : std::uint8_t { acquire, create, check, destroy, close };
[[nodiscard]] std::string_view to_string(pool_operation operation) noexcept;

// How an acquire ended: ok; empty (a try_ form: nothing idle, or another waiter is first); stopped (the pool's node was);
// closed; expired (the deadline passed); cancelled (by a stop token); failed (the resource could not be created).
using pool_status = wait_status;

// What went wrong, where, and why: "pool 'db', stripe 2: create: connection refused".
class pool_error : public error {
public:
    static constexpr int no_stripe = -1;

    pool_error(errc code, std::string_view pool, int stripe, pool_operation operation, std::string_view what,
               std::exception_ptr cause = nullptr);

    [[nodiscard]] const std::string& pool() const noexcept { return pool_; }
    [[nodiscard]] int stripe() const noexcept { return stripe_; }  // no_stripe: it never got as far as a stripe
    [[nodiscard]] pool_operation operation() const noexcept { return operation_; }
    [[nodiscard]] const std::exception_ptr& cause() const noexcept { return cause_; }

private:
    std::string pool_;
    int stripe_;
    pool_operation operation_;
    std::exception_ptr cause_;
};

}  // namespace roost::inline ROOST_ABI
