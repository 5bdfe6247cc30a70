#pragma once

#include <roost/base/config.hpp>
#include <roost/base/site.hpp>

#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace roost::inline ROOST_ABI {

// Failures that Roost itself reports. Inside tasks cancellation is not among them: it is the third state of an outcome.
enum class errc {
    timed_out = 1,       // a deadline that belongs to this operation passed
    closed,              // the channel, pool, scope or executor accepts nothing more
    refused,             // a scope or shutdown node did not admit new work, because it is stopping
    empty_set,           // a race over no alternatives
    promise_dropped,     // the promise of an external task was destroyed unset
    would_deadlock,      // a job waits for itself or for an ancestor
    cancelled,           // a caller outside of tasks waited for a task that ended cancelled: see task_cancelled
    broken,              // a resource failed its check or could not be created
    misused,             // the program used an object wrongly and can continue: see misuse
};

namespace ext {
[[nodiscard]] const std::error_category& roost_category() noexcept;
}
[[nodiscard]] std::error_code make_error_code(errc e) noexcept;

// Carries the code and one sentence with the object's name.
class error : public std::system_error {
public:
    error(errc code, const std::string& what) : std::system_error(make_error_code(code), what) {}
    [[nodiscard]] errc kind() const noexcept { return static_cast<errc>(code().value()); }
};

class timed_out : public error {
public:
    explicit timed_out(const std::string& what) : error(errc::timed_out, what) {}
};

}  // namespace roost::inline ROOST_ABI

template <>
struct std::is_error_code_enum<roost::errc> : std::true_type {};
