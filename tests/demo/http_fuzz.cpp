// What a client of the order service may send, cut into pieces in two ways: the same requests are served and the same one is
// refused, limits hold, an order that is taken is one that can be written down, and every answer is a message that a client can
// read. The first two bytes are the sizes of the pieces.

#include "../../examples/order_service/requests.hpp"

#include "fuzz_input.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace {

using testing_support::require;
using found = demo::request_reader::found;

// One request as the service saw it: its method, where it went, what it carried, whether more may follow, and the objection to it.
using seen = std::tuple<std::string, demo::place, std::string, bool, demo::status>;

// Reads as a client does, which believes the length.
void write_and_read_back(demo::status how, const std::string& text, bool keep_alive) {
    const demo::response reply(how, text);
    const std::string head = demo::head_of(reply, keep_alive);
    require(head.find("\r\n\r\n") == head.size() - 4, "a head ends with its only empty line");
    require(head.starts_with("HTTP/1.1 " + std::to_string(static_cast<int>(how)) + " "), "and says how it went");
    require(head.find("\r\nContent-Length: " + std::to_string(text.size()) + "\r\n") != std::string::npos,
            "and how long the body is");
    const bool closes = head.find("\r\nConnection: close\r\n") != std::string::npos;
    require(closes != keep_alive, "and whether more may follow");
}

void look_at_order(std::string_view body) {
    std::string item;
    std::int64_t quantity = 0;
    if (!demo::read_order(body, item, quantity)) {
        return;
    }
    require(!item.empty() && item.size() <= demo::item_limit && quantity > 0, "an order is of something");
    require(std::all_of(item.begin(), item.end(), [](char c) { return c > ' ' && c <= '~'; }), "and can be written down");
    std::string again;
    std::int64_t as_many = 0;
    require(demo::read_order(item + " " + std::to_string(quantity), again, as_many) && again == item && as_many == quantity,
            "an order reads as it was written");
}

seen look_at(const demo::request& asked) {
    require(asked.body.size() <= demo::body_limit, "a body is within its limit");
    require(!asked.method.empty() && !asked.target.empty(), "a request asks for something");
    require(std::all_of(asked.target.begin(), asked.target.end(), [](char c) { return c > ' ' && c <= '~'; }),
            "and can be written into a log");
    const demo::place where = demo::find_place(asked);
    if (where == demo::place::orders) {
        look_at_order(asked.body);
    }
    write_and_read_back(demo::status::ok, "order 1\n", asked.keep_alive);
    return {std::string(asked.method), where, std::string(asked.body), asked.keep_alive, demo::status::ok};
}

// What a session does with its bytes. Returns false if the connection ends.
bool take_requests(demo::request_reader& reader, std::vector<seen>& all) {
    for (found what = reader.look();; what = reader.look()) {
        if (what == found::fault) {
            const demo::status why = reader.objection();
            write_and_read_back(why, std::string(demo::reason_of(why)) + "\n", false);
            all.emplace_back("", demo::place::unknown, "", false, why);
        }
        if (what != found::whole) {
            return what != found::fault;
        }
        all.push_back(look_at(reader.get()));
        if (!std::get<bool>(all.back())) {
            return false;
        }
        reader.drop();
    }
}

std::vector<seen> serve(std::string_view bytes, std::size_t at_once) {
    demo::request_reader reader;
    std::vector<seen> all;
    while (!bytes.empty()) {
        const std::span<char> room = reader.room();
        require(!room.empty() && room.size() <= demo::header_limit + demo::body_limit, "a connection takes little memory");
        const std::size_t n = std::min({bytes.size(), at_once, room.size()});
        std::copy_n(bytes.data(), n, room.data());
        bytes.remove_prefix(n);
        reader.add(n);
        if (!take_requests(reader, all)) {
            break;
        }
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
