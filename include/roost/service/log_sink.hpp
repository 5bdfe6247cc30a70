#pragma once

#include <roost/base/config.hpp>

#include <cstdint>
#include <string_view>

namespace roost::inline ROOST_ABI::service {

enum class severity : std::uint8_t { info, warning, error };
[[nodiscard]] constexpr std::string_view to_string(severity s) noexcept {
    return s == severity::info ? "info" : s == severity::warning ? "warning" : "error";
}

// One line, without its end. The text is valid during the call.
class log_line {
public:
    constexpr log_line(severity how, std::string_view text) noexcept : how_(how), text_(text) {}
    [[nodiscard]] constexpr severity how() const noexcept { return how_; }
    [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }

private:
    severity how_;
    std::string_view text_;
};

// Where a service says what it does: put your logger behind it. Called from several threads, possibly at once; must not throw.
// A sink that blocks holds up reports, but neither signals nor the hard deadline.
using log_sink = void (*)(const log_line& line, void* context) noexcept;

// The default: the line and its end, in one write to the standard error stream.
void log_to_stderr(const log_line& line, void* context) noexcept;

}  // namespace roost::inline ROOST_ABI::service
