#include "settings.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace demo {

namespace {

bool number(std::string_view text, double least, double most, double& into) {
    const char* end = text.data() + text.size();
    double value = 0;
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stopped != end || !(value >= least && value <= most)) {
        return false;
    }
    into = value;
    return true;
}

parsed bad(std::string& problem, std::string sentence) {
    problem = std::move(sentence);
    return parsed::bad;
}

// A flag with a value; says what is wrong with it.
std::string take(std::string_view flag, std::string_view value, settings& into) {
    double port = 0;
    double clients = 0;
    if (flag == "--port") {
        if (!number(value, 0, 65535, port) || port != static_cast<std::uint16_t>(port)) {
            return "--port needs a number from 0 to 65535, not '" + std::string(value) + "'";
        }
        into.port = static_cast<std::uint16_t>(port);
    } else if (flag == "--seconds") {
        if (!number(value, 0.1, 3600, into.seconds)) {
            return "--seconds needs a number from 0.1 to 3600, not '" + std::string(value) + "'";
        }
    } else if (flag == "--rate") {
        if (!number(value, 0, 100000, into.rate)) {
            return "--rate needs a number from 0 to 100000, not '" + std::string(value) + "'";
        }
    } else if (flag == "--clients") {
        if (!number(value, 1, 100000, clients) || clients != static_cast<std::uint32_t>(clients)) {
            return "--clients needs a number from 1 to 100000, not '" + std::string(value) + "'";
        }
        into.clients = static_cast<std::uint32_t>(clients);
    } else if (flag == "--patience") {
        if (!number(value, 0, 3600, into.patience)) {
            return "--patience needs a number from 0 to 3600, not '" + std::string(value) + "'";
        }
    } else if (flag == "--db") {
        into.database = value;
    } else if (flag == "--admin") {
        into.admin = value;
    }
    return {};
}

}  // namespace

parsed parse(int count, const char* const* words, settings& into, std::string& problem) {
    bool port_given = false;
    bool seconds_given = false;
    for (int i = 1; i < count; ++i) {
        const std::string_view flag = words[i];
        if (flag == "--help" || flag == "-h") {
            return parsed::help;
        }
        if (flag == "--script") {
            into.script = true;
        } else if (flag == "--stuck") {
            into.stuck = true;
        } else if (flag == "--wedge") {
            into.wedge = true;
        } else if (flag == "--port" || flag == "--seconds" || flag == "--rate" || flag == "--clients" ||
                   flag == "--patience" || flag == "--db" || flag == "--admin") {
            if (i + 1 == count) {
                return bad(problem, std::string(flag) + " needs a value; see ./demo --help");
            }
            port_given = port_given || flag == "--port";
            seconds_given = seconds_given || flag == "--seconds";
            if (std::string wrong = take(flag, words[++i], into); !wrong.empty()) {
                return bad(problem, std::move(wrong));
            }
        } else {
            return bad(problem, "there is no flag '" + std::string(flag) + "'; see ./demo --help");
        }
    }
    if (into.script && !port_given) {
        into.port = 0;
    }
    if (into.script && !seconds_given) {
        into.seconds = 4;
    }
    if (into.admin.empty()) {
        into.admin = into.port == 0 ? "0" : "9090";
    }
    return parsed::run;
}

const char* help_text() noexcept {
    return "usage: ./demo [--script] [--stuck] [--port N] [--seconds S] [--rate R] [--clients N] [--patience S]\n"
           "              [--db FILE] [--admin ADDRESS] [--wedge]\n"
           "\n"
           "A small order service on loopback: HTTP intake, a bounded queue, supervised workers of which one fails on\n"
           "purpose, a pool of SQLite connections, and a load generator. Ctrl-C drains it, twice cancels, three times "
           "kills.\n"
           "The last line is the ledger: every accepted order is completed, failed, cancelled or abandoned, and none is "
           "lost.\n"
           "\n"
           "  --script      unattended: load, SIGTERM, drain, checked ledger; exit 0 when all is well\n"
           "  --stuck       plants a job that never ends; the drain report names it and what it waits on; exit 124\n"
           "  --wedge       plants a job that never gives its thread back; only the hard deadline ends the program\n"
           "  --port N      listen on 127.0.0.1:N (default 8080; with --script any free port)\n"
           "  --seconds S   how long the load runs (default 30; with --script 4)\n"
           "  --rate R      requests per second of the load (default 400; 0: none)\n"
           "  --clients N   take at most so many connections at a time (default 12000)\n"
           "  --patience S  how long a client may take for its next request during shutdown (default 2)\n"
           "  --admin ADDRESS  where /metrics, /readyz and /livez are served too: a port, *:PORT, unix:PATH (default 9090)\n"
           "  --db FILE     where orders are stored (default: a temporary file)\n"
           "\n"
           "While it runs: /healthz /readyz /metrics /tree, and POST /orders with a body such as 'tea 3'.\n";
}

}  // namespace demo
