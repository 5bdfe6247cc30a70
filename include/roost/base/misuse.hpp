#pragma once

// Mistakes of the calling program after which it can go on. Each is reported to the failure sink as an error of type `misuse`.
// Its text names what is wrong and what to write instead. Mistakes after which it cannot go on end it: base/assert.hpp.

#include <roost/base/error.hpp>
#include <roost/base/site.hpp>

#include <string>
#include <string_view>

namespace roost::inline ROOST_ABI {

class misuse : public error {
public:
    explicit misuse(const std::string& what) : error(errc::misused, what) {}
};

namespace detail {

void report_misuse(std::string_view what, std::string_view name, site made_at, std::string_view rule) noexcept;

// While it lives, this thread does not report objects that are destroyed unused. Held while the library destroys the arguments
// and locals of a body that was cancelled or refused.
class quiet_drops {
public:
    quiet_drops() noexcept;
    quiet_drops(const quiet_drops&) = delete;
    quiet_drops& operator=(const quiet_drops&) = delete;
    ~quiet_drops();
};
// True while a quiet_drops of this thread lives or an exception unwinds its stack.
[[nodiscard]] bool drops_are_quiet() noexcept;

}  // namespace detail

}  // namespace roost::inline ROOST_ABI
