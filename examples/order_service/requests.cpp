#include "requests.hpp"

#include <algorithm>
#include <charconv>

namespace demo {

namespace http = boost::beast::http;

void set_limits(request_parser& p) {
    p.header_limit(header_limit);
    p.body_limit(body_limit);
}

place find_place(const request& r) {
    const auto target = r.target();
    if (target == "/orders") {
        return r.method() == http::verb::post ? place::orders : place::not_a_post;
    }
    if (target == "/healthz") {
        return place::healthz;
    }
    if (target == "/readyz") {
        return place::readyz;
    }
    if (target == "/metrics") {
        return place::metrics;
    }
    return target == "/tree" ? place::tree : place::unknown;
}

bool read_order(std::string_view body, std::string& item, std::int64_t& quantity) {
    if (body.ends_with('\n')) {
        body.remove_suffix(1);
    }
    const std::size_t space = body.find(' ');
    if (space == 0 || space == std::string_view::npos || space > item_limit) {
        return false;
    }
    const std::string_view name = body.substr(0, space);
    if (!std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c <= '~'; })) {
        return false;
    }
    const std::string_view digits = body.substr(space + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), quantity);
    item = name;
    return error == std::errc() && quantity > 0 && end == digits.data() + digits.size();
}

std::optional<http::status> objection(const request_parser& p) {
    return p.chunked() ? std::optional(http::status::length_required) : std::nullopt;
}

std::optional<http::status> complaint(const boost::system::error_code& ec) {
    if (ec == http::error::body_limit) {
        return http::status::payload_too_large;
    }
    if (ec == http::error::header_limit) {
        return http::status::request_header_fields_too_large;
    }
    if (ec == http::error::end_of_stream || ec == http::error::partial_message ||
        ec.category() != http::make_error_code(http::error::end_of_stream).category()) {
        return std::nullopt;
    }
    return http::status::bad_request;
}

response make_response(const request& to, http::status how, std::string text) {
    response made(how, to.version());
    made.set(http::field::server, "roost-demo");
    made.set(http::field::content_type, "text/plain; charset=utf-8");
    made.body() = std::move(text);
    return made;
}

}  // namespace demo
