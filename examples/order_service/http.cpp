#include "http.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace demo {

namespace {

constexpr std::string_view line_end = "\r\n";
constexpr std::string_view head_end = "\r\n\r\n";
constexpr std::size_t step = 2048;  // bytes that a read asks for

bool is_token(std::string_view text) noexcept {
    const auto is_part = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
    };
    return !text.empty() && std::all_of(text.begin(), text.end(), is_part);
}

bool is_same(std::string_view a, std::string_view lower_case) noexcept {
    const auto equal = [](char x, char y) { return (x >= 'A' && x <= 'Z' ? x + ('a' - 'A') : x) == y; };
    return std::equal(a.begin(), a.end(), lower_case.begin(), lower_case.end(), equal);
}

// Cuts off what is before the first separator, or all.
std::string_view take_until(std::string_view& from, std::string_view separator) noexcept {
    const std::string_view taken = from.substr(0, from.find(separator));
    from.remove_prefix(std::min(from.size(), taken.size() + separator.size()));
    return taken;
}

std::string_view trimmed(std::string_view text) noexcept {
    const std::size_t first = text.find_first_not_of(" \t");
    return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

std::string_view reason_of(status s) noexcept {
    switch (s) {
        case status::ok: return "OK";
        case status::created: return "Created";
        case status::bad_request: return "Bad Request";
        case status::not_found: return "Not Found";
        case status::method_not_allowed: return "Method Not Allowed";
        case status::request_timeout: return "Request Timeout";
        case status::length_required: return "Length Required";
        case status::payload_too_large: return "Payload Too Large";
        case status::header_too_large: return "Request Header Fields Too Large";
        case status::server_error: return "Internal Server Error";
        case status::service_unavailable: return "Service Unavailable";
        case status::gateway_timeout: return "Gateway Timeout";
    }
    return "Unknown";
}

std::string head_of(const response& r, bool keep_alive) {
    std::string head = "HTTP/1.1 ";
    head.reserve(256);
    head.append(std::to_string(static_cast<int>(r.code))).append(" ").append(reason_of(r.code));
    head.append("\r\nServer: roost-demo\r\nContent-Type: ").append(r.type);
    head.append("\r\nContent-Length: ").append(std::to_string(r.body.size()));
    head.append(keep_alive ? "\r\nConnection: keep-alive\r\n\r\n" : "\r\nConnection: close\r\n\r\n");
    return head;
}

std::span<char> request_reader::room() {
    if (begin_ == end_) {
        begin_ = end_ = 0;
    }
    if (data_.size() - end_ < step) {
        data_.erase(0, begin_);
        end_ -= std::exchange(begin_, 0);
        data_.resize(end_ + step);
    }
    return std::span(data_).subspan(end_);
}

request_reader::found request_reader::look() {
    if (objection_ != status::ok) {
        return found::fault;
    }
    if (head_ == 0) {
        const found head = find_head();
        if (head != found::whole) {
            return head;
        }
        if (!read_head()) {
            return found::fault;
        }
    }
    return bytes().size() < head_ + body_ ? found::part : found::whole;
}

request_reader::found request_reader::find_head() noexcept {
    while (bytes().starts_with(line_end)) {  // some clients send one behind a body
        begin_ += line_end.size();
    }
    const std::string_view text = bytes().substr(0, header_limit);
    const std::size_t at = text.find(head_end, searched_);
    if (at != std::string_view::npos) {
        head_ = at + head_end.size();
        return found::whole;
    }
    searched_ = text.size() - std::min(text.size(), head_end.size() - 1);
    if (text.size() == header_limit) {
        objection_ = status::header_too_large;
        return found::fault;
    }
    return text.empty() ? found::nothing : found::part;
}

bool request_reader::read_head() noexcept {
    body_ = 0;
    has_length_ = closes_ = false;
    std::string_view rest = bytes().substr(0, head_ - line_end.size());
    if (!read_first_line(take_until(rest, line_end))) {
        return false;
    }
    while (!rest.empty()) {
        if (!read_field(take_until(rest, line_end))) {
            return false;
        }
    }
    return true;
}

// "POST /orders HTTP/1.1"
bool request_reader::read_first_line(std::string_view line) noexcept {
    const std::string_view method = take_until(line, " ");
    const std::string_view target = take_until(line, " ");
    const bool is_target = std::all_of(target.begin(), target.end(), [](char c) { return c > ' ' && c <= '~'; });
    if (!is_token(method) || target.empty() || !is_target || (line != "HTTP/1.1" && line != "HTTP/1.0")) {
        return refuse(status::bad_request);
    }
    method_ = method.size();
    target_ = target.size();
    keep_alive_ = line == "HTTP/1.1";
    return true;
}

// "Content-Length: 5". A line that continues the one before it is refused: its name is no token.
bool request_reader::read_field(std::string_view line) noexcept {
    const std::size_t colon = line.find(':');
    const std::string_view name = line.substr(0, colon);
    const auto is_control = [](char c) { return (c >= 0 && c < ' ' && c != '\t') || c == 127; };
    if (colon == std::string_view::npos || !is_token(name) || std::any_of(line.begin(), line.end(), is_control)) {
        return refuse(status::bad_request);
    }
    std::string_view value = line.substr(colon + 1);
    if (is_same(name, "content-length")) {
        return read_length(trimmed(value));
    }
    if (is_same(name, "transfer-encoding")) {
        return refuse(status::length_required);
    }
    while (is_same(name, "connection") && !value.empty()) {
        const std::string_view option = trimmed(take_until(value, ","));
        keep_alive_ = keep_alive_ || is_same(option, "keep-alive");
        closes_ = closes_ || is_same(option, "close");
    }
    return true;
}

// Two lengths are refused even if they are equal: another program in between may believe the other one.
bool request_reader::read_length(std::string_view value) noexcept {
    const bool is_number =
        !value.empty() && std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!is_number || std::exchange(has_length_, true)) {
        return refuse(status::bad_request);
    }
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), body_);
    return (error == std::errc() && body_ <= body_limit) || refuse(status::payload_too_large);
}

request request_reader::get() const noexcept {
    const std::string_view all = bytes();
    request made;
    made.method = all.substr(0, method_);
    made.target = all.substr(method_ + 1, target_);
    made.body = all.substr(head_, body_);
    made.keep_alive = keep_alive_ && !closes_;
    return made;
}

void request_reader::drop() noexcept {
    begin_ += head_ + body_;
    head_ = searched_ = 0;
}

}  // namespace demo
