#pragma once

// A client without a connection.

#include "commands.hpp"

#include <roost/base/clock.hpp>

#include <chrono>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace kv_testing {

class client {
public:
    explicit client(kv::store& data) noexcept : data_(&data) {}

    // Executes words, and returns the bytes of the reply.
    std::string ask_words(const std::vector<std::string_view>& words) {
        std::string reply;
        kv::command(*data_, words, now, reply).execute();
        return reply;
    }
    // The same for words between single spaces.
    std::string ask(const std::string& line) {
        std::vector<std::string> words;
        std::istringstream in(line);
        for (std::string word; std::getline(in, word, ' ');) {
            words.push_back(word);
        }
        return ask_words(std::vector<std::string_view>(words.begin(), words.end()));
    }

    roost::time_point now{std::chrono::hours(1)};

private:
    kv::store* data_;
};

}  // namespace kv_testing
