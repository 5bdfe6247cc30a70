#pragma once

#include <roost/base/wall_clock.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace roost::inline ROOST_ABI::service {

enum class severity : std::uint8_t { info, warning, error };
[[nodiscard]] constexpr std::string_view to_string(severity s) noexcept {
    return s == severity::info ? "info" : s == severity::warning ? "warning" : "error";
}

// One line, without its end. The text is valid during the call.
class log_line {
public:
    enum class kind : std::uint8_t {
        plain,
        ledger,  // the last line of a service, which programs read: it is written as it is
    };

    log_line(severity how, std::string_view text) noexcept : log_line(how, text, wall_now()) {}
    constexpr log_line(severity how, std::string_view text, wall_time at, kind of = kind::plain) noexcept
        : text_(text), at_(at), how_(how), kind_(of) {}
    [[nodiscard]] constexpr severity how() const noexcept { return how_; }
    [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }
    // When it was logged, which may be earlier than when it is written.
    [[nodiscard]] constexpr wall_time time() const noexcept { return at_; }
    [[nodiscard]] constexpr bool is_ledger() const noexcept { return kind_ == kind::ledger; }

    // "2026-11-17T19:09:46.123Z warning roost: ..."; the ledger's text alone.
    [[nodiscard]] std::string to_string() const;
    // What to_string() has before the text. Allocates nothing.
    static constexpr std::size_t longest_head = wall_text_size + sizeof " warning " - 1;
    std::string_view write_head(char (&to)[longest_head]) const noexcept;

private:
    std::string_view text_;
    wall_time at_;
    severity how_;
    kind kind_;
};

// Where a service says what it does: put your logger behind it. Must not throw.
//
// A thread of the service calls it, one line at a time, in the order in which the lines were logged. No other thread waits for it:
// lines are queued (options::log_buffer). While the sink does not return, the queue drops its oldest lines, and the sink gets
// "roost: N log lines dropped" before the next. run() returns when every line is written; until the hard deadline it waits.
// Before a service is started (a refusal), the thread that called run() calls the sink.
using log_sink = void (*)(const log_line& line, void* context) noexcept;

// The default: to_string() and a line end, to the standard error stream. Waits at most a second for a reader that takes nothing,
// and then drops lines until it takes some again; a line says how many.
void log_to_stderr(const log_line& line, void* context) noexcept;

}  // namespace roost::inline ROOST_ABI::service
