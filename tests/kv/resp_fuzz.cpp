// Bytes of a client, cut into pieces in three ways: the same requests are read, and they have the same replies, each of them one
// that a client can read. Nothing is read that has not arrived, and memory is taken for bytes that have arrived. The first three
// bytes choose the sizes of the pieces.

#include "ask.hpp"
#include "fuzz_input.hpp"
#include "read_requests.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace {

using testing_support::require;

// Returns what is behind one reply, or nothing if the bytes do not begin with one.
std::optional<std::string_view> skip_reply(std::string_view bytes) {
    const std::size_t end = bytes.find("\r\n");
    if (end == std::string_view::npos || end == 0 || bytes.substr(0, end).find('\n') != std::string_view::npos) return {};
    const auto number = kv::to_integer(bytes.substr(1, end - 1));
    std::optional<std::string_view> rest = bytes.substr(end + 2);
    switch (bytes[0]) {
        case '+':
        case '-': return rest;
        case ':': return number ? rest : std::nullopt;
        case '$':
            if (number == -1) return rest;
            if (!number || *number < 0 || rest->size() < static_cast<std::size_t>(*number) + 2) return {};
            rest->remove_prefix(static_cast<std::size_t>(*number));
            return rest->starts_with("\r\n") ? std::optional(rest->substr(2)) : std::nullopt;
        case '*':
            for (std::int64_t i = 0; number && rest && i < *number; ++i) rest = skip_reply(*rest);
            return number ? rest : std::nullopt;
        default: return {};
    }
}

class session {
public:
    std::string requests;
    std::string replies;
};

// `rest` is what is behind the bytes that have arrived: what is read must not depend on it.
session serve(std::string_view bytes, std::size_t at_once, char rest) {
    kv::store data;
    kv_testing::client client(data);
    kv::request_reader in;
    session seen;
    const std::size_t most_room = std::max<std::size_t>(std::size_t{16} << 10, 2 * bytes.size());
    while (in.error().empty() && !bytes.empty()) {
        const std::size_t n = std::min(at_once, bytes.size());
        kv_testing::arrive(in, bytes.substr(0, n), rest);
        bytes.remove_prefix(n);
        while (in.next()) {
            for (const auto word : in.request()) {
                seen.requests.append(std::to_string(word.size())).append(":").append(word);
            }
            const std::string reply = client.ask_words({in.request().begin(), in.request().end()});
            const auto behind = skip_reply(reply);
            require(behind && behind->empty(), "a request has one reply");
            seen.requests += '\n';
            seen.replies += reply;
        }
        require(in.room().size() <= most_room, "memory is bounded");
    }
    const auto behind = skip_reply(in.error());
    require(in.error().empty() || (behind && behind->empty()), "an error is one reply");
    seen.replies += in.error();
    return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    testing_support::fuzz_input in(data, size);
    const std::size_t sizes[] = {1 + in.byte() % 16U, 1 + in.byte() * 256U, 1 + in.byte() * 64U};
    const std::size_t head = std::min<std::size_t>(size, 3);
    const std::string_view bytes(reinterpret_cast<const char*>(data) + head, size - head);
    const session first = serve(bytes, sizes[0], '\n');
    for (const std::size_t other : {sizes[1], sizes[2]}) {
        const session second = serve(bytes, other, '0');
        require(first.requests == second.requests, "the same requests are read however they are cut");
        require(first.replies == second.replies, "and have the same replies");
    }
    return 0;
}
