#include <roost/observe/metrics_text.hpp>

#include <algorithm>

namespace roost::inline ROOST_ABI::metrics {

namespace {

constexpr std::string_view blanks = " \t";

std::string_view trimmed(std::string_view text) noexcept {
    const std::size_t first = text.find_first_not_of(blanks);
    return first == std::string_view::npos ? std::string_view()
                                           : text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

// Cuts the part before the separator off the text.
std::string_view next_part(std::string_view& text, char separator) noexcept {
    const std::size_t end = text.find(separator);
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return trimmed(part);
}

bool is_equal(std::string_view a, std::string_view b) noexcept {
    return std::ranges::equal(a, b, [](char x, char y) { return (x >= 'A' && x <= 'Z' ? x + 32 : x) == y; });
}

// Returns thousandths; "0.75" is 750. 0 if the text is no quality.
unsigned quality(std::string_view text) noexcept {
    if (text.empty() || text.size() > 5 || (text[0] != '0' && text[0] != '1') || (text.size() > 1 && text[1] != '.')) {
        return 0;
    }
    unsigned value = static_cast<unsigned>(text[0] - '0') * 1000;
    unsigned place = 100;
    for (const char digit : text.substr(std::min<std::size_t>(text.size(), 2))) {
        if (digit < '0' || digit > '9') {
            return 0;
        }
        value += static_cast<unsigned>(digit - '0') * place;
        place /= 10;
    }
    return std::min(value, 1000U);
}

}  // namespace

text_format format_for(std::string_view accept) noexcept {
    unsigned open = 0;
    unsigned plain = 0;
    while (!accept.empty()) {
        std::string_view item = next_part(accept, ',');
        const std::string_view type = next_part(item, ';');
        unsigned how_much = 1000;
        bool is_known_version = true;
        while (!item.empty()) {
            std::string_view value = next_part(item, ';');
            const std::string_view key = next_part(value, '=');
            if (is_equal(key, "q")) {
                how_much = quality(trimmed(value));
            } else if (is_equal(key, "version")) {
                is_known_version = trimmed(value) == "1.0.0" || trimmed(value) == "\"1.0.0\"";
            }
        }
        if (is_equal(type, "application/openmetrics-text") && is_known_version) {
            open = std::max(open, how_much);
        } else if (is_equal(type, "text/plain")) {
            plain = std::max(plain, how_much);
        }
    }
    return open > 0 && open >= plain ? text_format::openmetrics : text_format::prometheus;
}

}  // namespace roost::inline ROOST_ABI::metrics
