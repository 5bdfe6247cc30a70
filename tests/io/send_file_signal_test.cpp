// A peer or a close() that ends a connection in the middle of send_file() raises no SIGPIPE in the process.

#include "support.hpp"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <thread>
#include <vector>

using namespace roost;
using namespace io_tests;

namespace {

std::atomic<int> raised{0};
void note(int) { ++raised; }

// Counts the signal instead of ending the process.
class counted_signal {
public:
    counted_signal() {
        struct sigaction counts{};
        counts.sa_handler = &note;
        ::sigaction(SIGPIPE, &counts, &before_);
        raised = 0;
    }
    counted_signal(const counted_signal&) = delete;
    counted_signal& operator=(const counted_signal&) = delete;
    ~counted_signal() { ::sigaction(SIGPIPE, &before_, nullptr); }

private:
    struct sigaction before_{};
};

void read_until_end(io::tcp_stream& from) {
    std::vector<char> data(1 << 20);
    for (;;) {
        const auto got = from.read_some(io::mutable_buffer(data.data(), data.size())).blocking(hang_limit);
        if (!got || *got == 0) {
            return;
        }
    }
}

TEST(io_send_file_signal, IO_27_a_connection_that_ends_in_the_middle_raises_no_signal) {
    constexpr std::size_t size = 16U << 20U;
    const counted_signal counting;
    std::FILE* const file = std::tmpfile();
    ASSERT_NE(file, nullptr);
    ASSERT_EQ(::ftruncate(::fileno(file), size), 0);
    for (int i = 0; i < 200; ++i) {
        tcp_pair both = connected();
        std::thread reader([&both] { read_until_end(both.client); });
        std::thread closer([&both, i] {
            std::this_thread::sleep_for(std::chrono::microseconds(i % 20 * 50));
            both.server.close();
        });
        static_cast<void>(both.server.send_file(::fileno(file), 0, size).blocking(hang_limit));
        closer.join();
        both.server.close();
        reader.join();
    }
    std::fclose(file);
    EXPECT_EQ(raised, 0);
}

}  // namespace
