#pragma once

// One object of trace event JSON.

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace roost::inline ROOST_ABI::observe {

// Returns how many bytes the character at the front takes if it is well-formed UTF-8, else 0.
inline std::size_t utf8_size(std::string_view s) noexcept {
    const auto byte = [&](std::size_t i) { return i < s.size() ? static_cast<unsigned char>(s[i]) : 0U; };
    const auto more = [&](std::size_t i) { return (byte(i) & 0xc0U) == 0x80U; };
    const unsigned first = byte(0);
    if (first < 0x80) {
        return 1;
    }
    if (first >= 0xc2 && first < 0xe0) {
        return more(1) ? 2 : 0;
    }
    if (first >= 0xe0 && first < 0xf0) {
        const bool is_shortest = first != 0xe0 || byte(1) >= 0xa0;
        const bool is_surrogate = first == 0xed && byte(1) >= 0xa0;
        return more(1) && more(2) && is_shortest && !is_surrogate ? 3 : 0;
    }
    if (first >= 0xf0 && first < 0xf5) {
        const bool is_in_range = (first != 0xf0 || byte(1) >= 0x90) && (first != 0xf4 || byte(1) < 0x90);
        return more(1) && more(2) && more(3) && is_in_range ? 4 : 0;
    }
    return 0;
}

// Appends a JSON string. Bytes that are not UTF-8 become U+FFFD.
inline void append_json_text(std::string& out, std::string_view text) {
    out += '"';
    while (!text.empty()) {
        const auto c = static_cast<unsigned char>(text.front());
        const std::size_t size = utf8_size(text);
        if (size == 0) {
            out += "\\ufffd";
        } else if (c == '"' || c == '\\') {
            (out += '\\') += text.front();
        } else if (c < 0x20 || c == 0x7f) {
            char escaped[8];
            std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
            out += escaped;
        } else {
            out += text.substr(0, size);
        }
        text.remove_prefix(size == 0 ? 1 : size);
    }
    out += '"';
}

// An object is written from its constructor to its destructor; no other one begins meanwhile.
class trace_line {
public:
    trace_line(std::string& out, const char* phase, std::uint32_t process, std::uint32_t thread) : out_(&out) {
        out += out.ends_with('[') ? "\n{\"ph\":\"" : ",\n{\"ph\":\"";
        (out += phase) += '"';
        number("pid", process).number("tid", thread);
    }
    trace_line(trace_line&& other) noexcept : out_(std::exchange(other.out_, nullptr)), has_args_(other.has_args_) {}
    ~trace_line() {
        if (out_ != nullptr) {
            *out_ += has_args_ ? "}}" : "}";
        }
    }

    trace_line& number(const char* key, std::uint64_t n) {
        begin(key);
        *out_ += std::to_string(n);
        return *this;
    }
    trace_line& text(const char* key, std::string_view value) {
        begin(key);
        append_json_text(*out_, value);
        return *this;
    }
    trace_line& micros(const char* key, std::uint64_t ns) {
        begin(key);
        char digits[40];
        std::snprintf(digits, sizeof digits, "%llu.%03u", static_cast<unsigned long long>(ns / 1000),
                      static_cast<unsigned>(ns % 1000));
        *out_ += digits;
        return *this;
    }
    // What follows are arguments.
    trace_line& args() {
        *out_ += ",\"args\":{";
        has_args_ = true;
        return *this;
    }

private:
    void begin(const char* key) {
        if (!out_->ends_with('{')) {
            *out_ += ',';
        }
        ((*out_ += '"') += key) += "\":";
    }

    std::string* out_;
    bool has_args_ = false;
};

}  // namespace roost::inline ROOST_ABI::observe
