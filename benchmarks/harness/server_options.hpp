// The command line of every echo server in C++: --port N (0: any) --threads 1|2 [--timeout-ms N].
#pragma once

#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace bench {

inline constexpr int server_buffer = 4096;   // bytes per connection

struct server_options {
    int port = 0;
    int threads = 1;
    int timeout_ms = 0;   // of every read; 0: none
};

// A thousand connections need more descriptors than the usual soft limit.
inline void raise_file_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

// Ends the program if an option is unknown.
inline server_options parse_server_options(int argc, char** argv) {
    server_options found;
    for (int i = 1; i < argc; i += 2) {
        int* const option = std::strcmp(argv[i], "--port") == 0         ? &found.port
                            : std::strcmp(argv[i], "--threads") == 0    ? &found.threads
                            : std::strcmp(argv[i], "--timeout-ms") == 0 ? &found.timeout_ms
                                                                        : nullptr;
        if (option == nullptr || i + 1 == argc) {
            std::fprintf(stderr, "usage: %s --port N --threads 1|2 [--timeout-ms N]\n", argv[0]);
            std::exit(2);
        }
        *option = std::atoi(argv[i + 1]);
    }
    raise_file_limit();
    return found;
}

inline void print_port(int port) {
    std::printf("listening on 127.0.0.1:%d\n", port);
    std::fflush(stdout);
}

}  // namespace bench
