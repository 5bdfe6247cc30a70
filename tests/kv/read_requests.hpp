#pragma once

// Requests as a connection brings them: some bytes at a time.

#include "resp.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace kv_testing {

using request = std::vector<std::string>;

// Copies bytes into the reader's room. Behind them are bytes that nothing may read.
inline void arrive(kv::request_reader& in, std::string_view bytes, char rest) {
    while (!bytes.empty()) {
        const auto room = in.room();
        const std::size_t n = std::min(bytes.size(), room.size());
        std::copy_n(bytes.data(), n, room.data());
        std::fill_n(room.data() + n, std::min<std::size_t>(room.size() - n, 100), rest);
        in.filled(n);
        bytes.remove_prefix(n);
    }
}

class reading {
public:
    std::vector<request> requests;
    std::string error;
    bool is_idle = false;  // the last request is complete

    friend bool operator==(const reading&, const reading&) = default;
};

// Appends what can be read now.
inline void read_on(kv::request_reader& in, reading& to) {
    while (in.next()) {
        to.requests.emplace_back(in.request().begin(), in.request().end());
    }
    to.error = in.error();
    to.is_idle = in.error().empty() && in.is_idle();
}

// Reads `bytes`, which arrive in pieces of the given sizes and then in one last piece.
inline reading read_pieces(std::string_view bytes, const std::vector<std::size_t>& sizes, char rest = '\n') {
    kv::request_reader in;
    reading all;
    for (const std::size_t size : sizes) {
        const std::size_t n = std::min(size, bytes.size());
        arrive(in, bytes.substr(0, n), rest);
        read_on(in, all);
        bytes.remove_prefix(n);
    }
    arrive(in, bytes, rest);
    read_on(in, all);
    return all;
}

// An array of bulk strings, as clients send requests.
inline std::string array_of(const request& words) {
    std::string text = "*" + std::to_string(words.size()) + "\r\n";
    for (const auto& word : words) {
        text.append("$").append(std::to_string(word.size())).append("\r\n").append(word).append("\r\n");
    }
    return text;
}

}  // namespace kv_testing
