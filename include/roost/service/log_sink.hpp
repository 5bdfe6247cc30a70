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

// One line, without its line end. The text is valid during the call of the sink.
class log_line {
public:
    enum class kind : std::uint8_t {
        plain,
        ledger,  // the last line of a service, read by programs: written without a head
    };

    log_line(severity how, std::string_view text) noexcept : log_line(how, text, ext::wall_now()) {}
    constexpr log_line(severity how, std::string_view text, ext::wall_time at, kind of = kind::plain) noexcept
        : text_(text), at_(at), how_(how), kind_(of) {}
    [[nodiscard]] constexpr severity how() const noexcept { return how_; }
    [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }
    // Returns when the line was logged; it may be written later.
    [[nodiscard]] constexpr ext::wall_time time() const noexcept { return at_; }
    [[nodiscard]] constexpr bool is_ledger() const noexcept { return kind_ == kind::ledger; }

    // Returns "2026-11-17T19:09:46.123Z warning roost: ...". For the ledger, returns the text alone.
    [[nodiscard]] std::string to_string() const;
    // Writes what to_string() puts before the text. Does not allocate.
    static constexpr std::size_t longest_head = ext::wall_text_size + sizeof " warning " - 1;
    std::string_view write_head(char (&to)[longest_head]) const noexcept;

private:
    std::string_view text_;
    ext::wall_time at_;
    severity how_;
    kind kind_;
};

// Receives the log lines of a service; connect your logger here. Must not throw.
//
// One thread of the service calls the sink, one line at a time, in the order of the calls to log. No other thread waits for
// it: lines are queued (options::log_buffer). While the sink blocks, the queue drops its oldest lines. The sink then
// receives "roost: N log lines dropped" before the next line. run() waits until every line is written, at most until the
// hard deadline. If run() refuses to start the service, it calls the sink on its own thread.
using log_sink = void (*)(const log_line& line, void* context) noexcept;

// The default sink: writes to_string() and a line end to standard error. If the reader accepts nothing for a second, lines
// are dropped until it accepts some again. A line then reports how many.
void log_to_stderr(const log_line& line, void* context) noexcept;

}  // namespace roost::inline ROOST_ABI::service
