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
    closed,              // the channel, pool, node, lane or io_context accepts nothing more
    refused,             // not admitted: a closed scope, a limit, a try_ form that found nothing
    empty_set,           // a race over no alternatives
    promise_dropped,     // a promise was destroyed unset, or a child ended before it called started()
    would_deadlock,      // the caller waits for itself, for an ancestor, or for work that only its own thread can run
    cancelled,           // there is no value because the wait, or the task (see task_cancelled), ended cancelled
    broken,              // a resource failed its check or could not be created
    misused,             // the program used an object wrongly and can continue: see misuse
};

namespace ext {
[[nodiscard]] const std::error_category& roost_category() noexcept;
}
[[nodiscard]] std::error_code make_error_code(errc e) noexcept;

// Carries the code and one sentence with the object's name. what() is the sentence, ": " and the code's label.
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
