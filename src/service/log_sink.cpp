#include <roost/service/log_sink.hpp>

#include <roost/base/detail/write_stderr.hpp>

#include <algorithm>
#include <cstddef>

namespace roost::inline ROOST_ABI::service {

using namespace ext;

std::string_view log_line::write_head(char (&to)[longest_head]) const noexcept {
    if (is_ledger()) {
        return {};
    }
    char time[wall_text_size];
    char* at = to;
    const auto add = [&](std::string_view text) { at = std::copy(text.begin(), text.end(), at); };
    add(write_wall_time(at_, time));
    add(" ");
    add(service::to_string(how_));
    add(" ");
    return {to, static_cast<std::size_t>(at - to)};
}

std::string log_line::to_string() const {
    char head[longest_head];
    return std::string(write_head(head)).append(text_);
}

namespace {

// A reader that takes nothing for this long counts as stuck: lines are dropped.
constexpr duration patience = std::chrono::seconds(1);

}  // namespace

void log_to_stderr(const log_line& line, void* /*context*/) noexcept {
    try {
        roost::detail::write_stderr(line.to_string() + "\n", patience);
    } catch (...) {  // no memory: the beginning of the line needs none
        char text[512];
        char head[log_line::longest_head];
        const std::string_view first = line.write_head(head);
        const std::string_view second = line.text().substr(0, sizeof text - sizeof head - 1);
        char* end = std::copy(second.begin(), second.end(), std::copy(first.begin(), first.end(), text));
        *end++ = '\n';
        roost::detail::write_stderr({text, static_cast<std::size_t>(end - text)}, patience);
    }
}

}  // namespace roost::inline ROOST_ABI::service
