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

// How an acquire ended:
//   ok         a resource
//   empty      a try_ form found nothing idle, or a waiter is queued
//   stopped    the pool's node is stopped, or an ancestor is closed
//   closed     the pool is closed
//   expired    the deadline passed
//   cancelled  a stop token cancelled it
//   failed     no resource could be created
using pool_status = wait_status;

// The error of a pool operation, such as "pool 'db', stripe 2: create: connection refused".
class pool_error : public error {
public:
    static constexpr int no_stripe = -1;

    pool_error(errc code, std::string_view pool, int stripe, pool_operation operation, std::string_view what,
               std::exception_ptr cause = nullptr);

    [[nodiscard]] const std::string& pool() const noexcept { return pool_; }
    [[nodiscard]] int stripe() const noexcept { return stripe_; }  // no_stripe if no stripe was involved
    [[nodiscard]] pool_operation operation() const noexcept { return operation_; }
    // The exception that the user's function threw. Null if there is none.
    [[nodiscard]] const std::exception_ptr& cause() const noexcept { return cause_; }

private:
    std::string pool_;
    int stripe_;
    pool_operation operation_;
    std::exception_ptr cause_;
};

}  // namespace roost::inline ROOST_ABI
