#pragma once

// What the command line says.

#include <cstdint>
#include <string>

namespace demo {

struct settings {
    std::uint16_t port = 8080;  // 0: any free one
    double seconds = 30;        // how long the built-in load runs
    double rate = 400;          // its requests per second; 0: no load
    std::uint32_t clients = 12'000;  // connections at a time
    double patience = 2;        // during shutdown, with clients that have not been told to go
    std::string database;       // empty: a file of its own in the temporary directory
    std::string admin;  // where /metrics, /readyz and /livez are served too; empty: port 9090, or any with --port 0
    bool script = false;  // load, SIGTERM, drain, checked ledger, without an operator
    bool stuck = false;  // plant a job that waits for something that never comes
    bool wedge = false;  // plant a job that never gives its thread back
};

enum class parsed { run, help, bad };

// On bad, `problem` is one sentence.
[[nodiscard]] parsed parse(int count, const char* const* words, settings& into, std::string& problem);
[[nodiscard]] const char* help_text() noexcept;

}  // namespace demo
