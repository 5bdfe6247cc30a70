#pragma once

#include <roost/base/error.hpp>
#include <roost/base/status.hpp>

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

namespace roost::inline ROOST_ABI {

// The error of a pool operation, such as "pool 'db', stripe 2: create: connection refused: broken resource".
class pool_error : public error {
public:
    static constexpr int no_stripe = -1;
    // The step that failed.
    enum class step : std::uint8_t { acquire, create, check, destroy, close };

    pool_error(errc code, std::string_view pool, int stripe, step operation, std::string_view what,
               std::exception_ptr cause = nullptr);

    [[nodiscard]] const std::string& pool() const noexcept { return pool_; }
    [[nodiscard]] int stripe() const noexcept { return stripe_; }  // no_stripe if no stripe was involved
    [[nodiscard]] step operation() const noexcept { return operation_; }
    // Returns the exception that the user's function threw. Null if there is none.
    [[nodiscard]] const std::exception_ptr& cause() const noexcept { return cause_; }

private:
    std::string pool_;
    int stripe_;
    step operation_;
    std::exception_ptr cause_;
};

[[nodiscard]] std::string_view to_string(pool_error::step failed) noexcept;

}  // namespace roost::inline ROOST_ABI
