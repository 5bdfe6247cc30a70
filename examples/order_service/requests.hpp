#pragma once

// What a client may send, and what is made of it: all that happens to its bytes before an order exists. No sockets here, so that
// the fuzzer can have it.

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace demo {

using request = boost::beast::http::request<boost::beast::http::string_body>;
using response = boost::beast::http::response<boost::beast::http::string_body>;
using request_parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

constexpr std::uint32_t header_limit = 8 * 1024;
constexpr std::uint64_t body_limit = 16 * 1024;
constexpr std::size_t item_limit = 64;

void set_limits(request_parser& p);

enum class place { orders, not_a_post, healthz, readyz, metrics, tree, unknown };
[[nodiscard]] place find_place(const request& r);

// "tea 3": an item in visible ASCII, a space, how many; a line break may follow.
[[nodiscard]] bool read_order(std::string_view body, std::string& item, std::int64_t& quantity);

// What is wrong with a request whose header has been read. A body says how long it is: Beast before Boost 1.86 asserts when the
// last chunk of one that does not arrives in pieces.
[[nodiscard]] std::optional<boost::beast::http::status> objection(const request_parser& p);

// What was wrong with a request, as an answer; nothing when the connection is not worth one.
[[nodiscard]] std::optional<boost::beast::http::status> complaint(const boost::system::error_code& ec);

[[nodiscard]] response make_response(const request& to, boost::beast::http::status how, std::string text);

}  // namespace demo
