#include <roost/admin/http.hpp>

#include <algorithm>

namespace roost::inline ROOST_ABI::admin {

namespace {

bool is_same(std::string_view a, std::string_view b) noexcept {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

int hex_value(char c) noexcept {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

std::optional<std::string> decoded(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i] == '+' ? ' ' : text[i];
            continue;
        }
        const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
        const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
        if (high < 0 || low < 0) {
            return std::nullopt;
        }
        out += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return out;
}

}  // namespace

std::optional<std::string> http_request::parameter(std::string_view name) const {
    for (std::string_view rest = query_; !rest.empty();) {
        const std::string_view one = rest.substr(0, rest.find('&'));
        rest.remove_prefix(std::min(rest.size(), one.size() + 1));
        const std::size_t equals = one.find('=');
        if (one.substr(0, equals) == name) {
            return decoded(equals == std::string_view::npos ? std::string_view() : one.substr(equals + 1));
        }
    }
    return std::nullopt;
}

std::string_view http_request::header(std::string_view name) const noexcept {
    for (const field& f : headers_) {
        if (is_same(f.first, name)) {
            return f.second;
        }
    }
    return {};
}

std::string escape_html(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            case '\'': out += "&#39;"; break;
            default: out += c;
        }
    }
    return out;
}

}  // namespace roost::inline ROOST_ABI::admin
