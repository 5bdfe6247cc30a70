// What a client of the order service may send, cut into pieces in two ways: the same requests are served, limits hold, an order
// that is taken is one that can be written down, and every answer is a message that a client can read. The first two bytes are
// the sizes of the pieces.

#include "../../examples/order_service/requests.hpp"

#include "fuzz_input.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace {

namespace net = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using testing_support::require;

// The bytes as a connection would bring them: at most so many at once, then the end.
class connection {
public:
    connection(std::string_view all, std::size_t at_once) noexcept : rest_(all), at_once_(at_once) {}
    template <class Buffers>
    std::size_t read_some(const Buffers& into, error_code& ec) {
        ec = rest_.empty() ? error_code(net::error::eof) : error_code();
        const std::size_t n = net::buffer_copy(into, net::buffer(rest_.data(), std::min(rest_.size(), at_once_)));
        rest_.remove_prefix(n);
        return n;
    }
    template <class Buffers>
    std::size_t read_some(const Buffers& into) {
        error_code ignored;
        return read_some(into, ignored);
    }

private:
    std::string_view rest_;
    std::size_t at_once_;
};

// One request as the service saw it: where it went, what it carried, whether more may follow. One that is refused ends the list;
// what for may depend on how much of it had come when the first fault was found.
using seen = std::tuple<demo::place, std::string, bool>;

void write_and_read_back(const demo::request& asked, http::status how, const std::string& text, bool keep_alive) {
    demo::response reply = demo::make_response(asked, how, text);
    reply.keep_alive(keep_alive);
    reply.prepare_payload();
    std::ostringstream out;
    out << reply;
    const std::string bytes = out.str();
    http::response_parser<http::string_body> parser;
    error_code ec;
    parser.eager(true);
    const std::size_t used = parser.put(net::buffer(bytes), ec);
    if (!ec && parser.need_eof()) {
        parser.put_eof(ec);
    }
    require(!ec && parser.is_done() && used == bytes.size(), "an answer is one whole message");
    require(parser.get().result() == how && parser.get().body() == text, "and says what it was meant to say");
}

void look_at_order(const demo::request& asked) {
    std::string item;
    std::int64_t quantity = 0;
    if (!demo::read_order(asked.body(), item, quantity)) {
        return;
    }
    require(!item.empty() && item.size() <= demo::item_limit && quantity > 0, "an order is of something");
    require(std::all_of(item.begin(), item.end(), [](char c) { return c > ' ' && c <= '~'; }), "and can be written down");
    std::string again;
    std::int64_t as_many = 0;
    require(demo::read_order(item + " " + std::to_string(quantity), again, as_many) && again == item && as_many == quantity,
            "an order reads as it was written");
}

// What a session does with its bytes.
std::vector<seen> serve(std::string_view bytes, std::size_t at_once) {
    connection peer(bytes, at_once);
    boost::beast::flat_buffer buffer;
    std::vector<seen> all;
    for (bool more = true; more;) {
        demo::request_parser parser;
        demo::set_limits(parser);
        error_code ec;
        http::read_header(peer, buffer, parser, ec);
        const auto objection = ec ? std::nullopt : demo::objection(parser);
        if (!ec && !objection && !parser.is_done()) {
            http::read(peer, buffer, parser, ec);
        }
        if (ec || objection) {
            const auto how = ec ? demo::complaint(ec) : objection;
            if (how) {
                write_and_read_back(parser.get(), *how, std::string(http::obsolete_reason(*how)) + "\n", false);
            }
            return all;
        }
        const demo::request asked = parser.release();
        require(asked.body().size() <= demo::body_limit, "a body is within its limit");
        const demo::place where = demo::find_place(asked);
        if (where == demo::place::orders) {
            look_at_order(asked);
        }
        more = asked.keep_alive();
        write_and_read_back(asked, http::status::ok, "order 1\n", more);
        all.emplace_back(where, asked.body(), more);
    }
    return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    testing_support::fuzz_input in(data, size);
    const std::size_t one = 1 + in.byte();
    const std::size_t other = 1 + in.byte() * 256U;
    const std::string_view bytes(reinterpret_cast<const char*>(data) + std::min<std::size_t>(size, 2),
                                 size - std::min<std::size_t>(size, 2));
    require(serve(bytes, one) == serve(bytes, other), "the same requests are served however they are cut");
    return 0;
}
