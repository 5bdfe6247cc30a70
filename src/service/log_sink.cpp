#include <roost/service/log_sink.hpp>

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>

namespace roost::inline ROOST_ABI::service {

namespace {

void write_all(const char* text, std::size_t size) noexcept {
    while (size > 0) {
        const ssize_t n = ::write(STDERR_FILENO, text, size);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return;  // nobody reads: there is no better place to say so
        }
        text += n;
        size -= static_cast<std::size_t>(n);
    }
}

}  // namespace

void log_to_stderr(const log_line& line, void* /*context*/) noexcept {
    try {
        std::string text(line.text());
        text.push_back('\n');
        write_all(text.data(), text.size());
    } catch (...) {
        write_all(line.text().data(), line.text().size());
        write_all("\n", 1);
    }
}

}  // namespace roost::inline ROOST_ABI::service
