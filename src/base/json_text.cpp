#include <roost/base/detail/json_text.hpp>

#include <cstdint>

namespace roost::inline ROOST_ABI::detail {

namespace {

struct lead {
    std::size_t length;
    std::uint32_t bits;
    std::uint32_t least;  // the smallest code point that needs this length
};

lead lead_of(unsigned char c) noexcept {
    if (c < 0x80) return {1, c, 0};
    if (c >= 0xc2 && c < 0xe0) return {2, c & 0x1fU, 0x80};
    if (c >= 0xe0 && c < 0xf0) return {3, c & 0x0fU, 0x800};
    if (c >= 0xf0 && c < 0xf5) return {4, c & 0x07U, 0x10000};
    return {0, 0, 0};
}

void append_escaped(std::string& out, unsigned char c) {
    constexpr char digits[] = "0123456789abcdef";
    switch (c) {
        case '"': out.append("\\\""); return;
        case '\\': out.append("\\\\"); return;
        case '\n': out.append("\\n"); return;
        case '\r': out.append("\\r"); return;
        case '\t': out.append("\\t"); return;
        default: break;
    }
    if (c < 0x20 || c == 0x7f) {
        out.append("\\u00");
        out.push_back(digits[c >> 4U]);
        out.push_back(digits[c & 15U]);
        return;
    }
    out.push_back(static_cast<char>(c));
}

}  // namespace

std::size_t utf8_length(std::string_view text) noexcept {
    if (text.empty()) {
        return 0;
    }
    const lead first = lead_of(static_cast<unsigned char>(text[0]));
    if (first.length == 0 || first.length > text.size()) {
        return 0;
    }
    std::uint32_t point = first.bits;
    for (std::size_t i = 1; i < first.length; ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        if ((c & 0xc0U) != 0x80) {
            return 0;
        }
        point = (point << 6U) | (c & 0x3fU);
    }
    const bool is_surrogate = point >= 0xd800 && point < 0xe000;
    return point < first.least || point > 0x10ffff || is_surrogate ? 0 : first.length;
}

void append_json_string(std::string& out, std::string_view text) {
    out.push_back('"');
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (length == 1) {
            append_escaped(out, static_cast<unsigned char>(text[0]));
        } else if (length > 1) {
            out.append(text.substr(0, length));
        } else {
            out.append("\xef\xbf\xbd");
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
    out.push_back('"');
}

}  // namespace roost::inline ROOST_ABI::detail
