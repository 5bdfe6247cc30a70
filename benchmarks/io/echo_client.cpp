// The client of the rows io/echo_*: one program for every server. N connections, each with `depth` messages in flight (closed
// loop). After a warm-up it measures for a while, and prints one "name value" per line.
//
// usage: client --port N [--pid SERVER] [--connections 64] [--bytes 64] [--depth 1] [--threads 1] [--warmup-ms 200] [--ms 1000]
//               [--patience-ms 5000]
// With --pid, the CPU time of that process is measured too. Ends with 1 and one sentence when the server closes a connection,
// answers with other bytes, or does not answer for `patience`.
#include "../harness/latency_histogram.hpp"
#include "../harness/server_options.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace {

struct settings {
    int port = 0, pid = 0, connections = 64, bytes = 64, depth = 1, threads = 1, warmup_ms = 200, ms = 1000,
        patience_ms = 5000;
};

std::int64_t now_ns() {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

// What the threads share: when to measure, when to end, and the first failure.
class run_state {
public:
    void fail(std::string what) {
        std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::move(what);
        ending_.store(true, std::memory_order_relaxed);
        changed_.notify_all();
    }
    // Returns false if a thread has failed.
    [[nodiscard]] bool sleep_ms(int ms) {
        std::unique_lock lock(mutex_);
        return !changed_.wait_for(lock, std::chrono::milliseconds(ms), [this] { return failure_.has_value(); });
    }
    void begin_measuring(std::int64_t now) { measure_from_.store(now, std::memory_order_relaxed); }
    void end() { ending_.store(true, std::memory_order_relaxed); }
    [[nodiscard]] std::int64_t measure_from() const { return measure_from_.load(std::memory_order_relaxed); }
    [[nodiscard]] bool is_ending() const { return ending_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::optional<std::string> failure() {
        std::lock_guard lock(mutex_);
        return failure_;
    }

private:
    std::atomic<std::int64_t> measure_from_{std::numeric_limits<std::int64_t>::max()};
    std::atomic<bool> ending_{false};
    std::mutex mutex_;
    std::condition_variable changed_;
    std::optional<std::string> failure_;
};

struct connection {
    int fd;
    std::vector<char> messages;  // `depth` messages, all alike; every connection has its own text
    std::vector<std::int64_t> sent_at;  // a ring: one entry per message in flight
    std::size_t oldest = 0;
    std::size_t in_flight = 0;
    std::size_t partial = 0;  // bytes of the oldest message that have come back
};

class worker {
public:
    worker(settings const& how, run_state& shared, std::vector<connection> mine)
        : how_(how), shared_(shared), mine_(std::move(mine)), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
        for (connection& c : mine_) {
            epoll_event event{EPOLLIN, {.ptr = &c}};
            ::epoll_ctl(epoll_, EPOLL_CTL_ADD, c.fd, &event);
        }
    }
    worker(worker const&) = delete;
    worker& operator=(worker const&) = delete;
    ~worker() {
        for (connection const& c : mine_) ::close(c.fd);
        ::close(epoll_);
    }

    // Returns when every answer has come after the end, or when a thread has failed.
    void run() {
        std::int64_t heard = now_ns();
        for (connection& c : mine_) {
            if (!send(c, static_cast<std::size_t>(how_.depth), heard)) return;
        }
        std::array<epoll_event, 256> events;
        while (!shared_.is_ending() || in_flight_ > 0) {
            int const ready = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 50);
            if (ready <= 0) {
                if (shared_.failure()) return;
                if (now_ns() - heard > how_.patience_ms * 1'000'000LL) return give_up();
                continue;
            }
            for (int i = 0; i < ready; ++i) {
                if (!receive(*static_cast<connection*>(events[static_cast<std::size_t>(i)].data.ptr), heard)) return;
            }
        }
    }

    [[nodiscard]] std::uint64_t answered() const { return answered_.load(std::memory_order_relaxed); }
    [[nodiscard]] bench::latency_histogram const& latencies() const { return latencies_; }

private:
    bool send(connection& c, std::size_t count, std::int64_t now) {
        for (std::size_t i = 0; i < count; ++i) {
            c.sent_at[(c.oldest + c.in_flight++) % c.sent_at.size()] = now;
        }
        in_flight_ += count;
        std::size_t const size = count * static_cast<std::size_t>(how_.bytes);
        ssize_t const n = ::send(c.fd, c.messages.data(), size, MSG_NOSIGNAL);
        if (n == static_cast<ssize_t>(size)) return true;
        // What is in flight fits into any socket buffer, so a short write means that the server has stopped reading for good.
        return fail(n < 0 ? std::string("sending failed: ") + std::strerror(errno)
                          : "the server's socket takes no more bytes");
    }

    bool receive(connection& c, std::int64_t& heard) {
        ssize_t const n = ::recv(c.fd, received_.data(), received_.size(), 0);
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
        if (n < 0) return fail(std::string("receiving failed: ") + std::strerror(errno));
        if (n == 0) return fail("the server closed a connection");
        std::int64_t const now = now_ns();
        std::size_t const answers = take(c, std::span(received_).first(static_cast<std::size_t>(n)), now);
        if (answers == none) return fail("the server answered with other bytes than were sent");
        heard = now;
        answered_.store(answered_.load(std::memory_order_relaxed) + answers, std::memory_order_relaxed);
        return answers == 0 || shared_.is_ending() || send(c, answers, now);
    }

    // Returns how many messages are complete with these bytes; `none` if the bytes are not those that were sent.
    std::size_t take(connection& c, std::span<char const> bytes, std::int64_t now) {
        auto const size = static_cast<std::size_t>(how_.bytes);
        std::size_t complete = 0;
        while (!bytes.empty()) {
            std::size_t const part = std::min(bytes.size(), size - c.partial);
            if (c.in_flight == 0 || std::memcmp(bytes.data(), c.messages.data() + c.partial, part) != 0) return none;
            bytes = bytes.subspan(part);
            c.partial += part;
            if (c.partial == size) {
                complete_oldest(c, now);
                ++complete;
            }
        }
        return complete;
    }

    void complete_oldest(connection& c, std::int64_t now) {
        std::int64_t const sent = c.sent_at[c.oldest];
        if (sent >= shared_.measure_from()) latencies_.add(now - sent);
        c.oldest = (c.oldest + 1) % c.sent_at.size();
        c.partial = 0;
        --c.in_flight;
        --in_flight_;
    }

    void give_up() {
        std::size_t silent = 0;
        for (connection const& c : mine_) silent += c.in_flight > 0;
        fail("no answer for " + std::to_string(how_.patience_ms) + " ms on " + std::to_string(silent) + " of " +
             std::to_string(mine_.size()) + " connections");
    }

    bool fail(std::string what) {
        shared_.fail(std::move(what) + ", after " + std::to_string(answered()) + " answers");
        return false;
    }

    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    settings const& how_;
    run_state& shared_;
    std::vector<connection> mine_;
    int epoll_;
    std::uint64_t in_flight_ = 0;
    alignas(64) std::atomic<std::uint64_t> answered_{0};  // written by this thread only
    bench::latency_histogram latencies_;
    std::array<char, 65536> received_;
};

[[noreturn]] void give_up(std::string const& what) {
    std::fprintf(stderr, "echo_client: %s\n", what.c_str());
    std::exit(1);
}

// Blocks until the kernel of the server has taken the connection, at most `patience`.
int connect_to(settings const& how) {
    int const fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) give_up(std::string("no socket: ") + std::strerror(errno));
    timeval const limit{how.patience_ms / 1000, how.patience_ms % 1000 * 1000};
    ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(how.port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd, reinterpret_cast<sockaddr const*>(&to), sizeof to) != 0) {
        give_up("cannot connect to port " + std::to_string(how.port) + ": " + std::strerror(errno));
    }
    int const on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
    return fd;
}

connection make_connection(settings const& how, int number) {
    auto const depth = static_cast<std::size_t>(how.depth);
    auto const bytes = static_cast<std::size_t>(how.bytes);
    connection made{connect_to(how), std::vector<char>(depth * bytes), std::vector<std::int64_t>(depth)};
    for (std::size_t i = 0; i < made.messages.size(); ++i) {
        made.messages[i] = static_cast<char>(static_cast<std::size_t>(number) * 31 + i % bytes * 7 + 1);
    }
    return made;
}

std::vector<std::unique_ptr<worker>> make_workers(settings const& how, run_state& shared) {
    std::int64_t const start = now_ns();
    std::vector<std::vector<connection>> shares(static_cast<std::size_t>(how.threads));
    for (int i = 0; i < how.connections; ++i) {
        shares[static_cast<std::size_t>(i % how.threads)].push_back(make_connection(how, i));
        if (now_ns() - start > 4 * how.patience_ms * 1'000'000LL) {
            give_up("only " + std::to_string(i + 1) + " connections in " + std::to_string(4 * how.patience_ms) + " ms");
        }
    }
    std::vector<std::unique_ptr<worker>> workers;
    for (auto& share : shares) workers.push_back(std::make_unique<worker>(how, shared, std::move(share)));
    return workers;
}

// CPU time of all threads of a process, those that have ended included.
std::int64_t cpu_ns_of(int pid) {
    clockid_t clock{};
    timespec t{};
    if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &t) != 0) {
        give_up("process " + std::to_string(pid) + " has no CPU clock: it has ended");
    }
    return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

struct sample {
    std::int64_t at = 0, cpu = 0;
    std::uint64_t answered = 0;
};

sample take_sample(settings const& how, std::vector<std::unique_ptr<worker>> const& workers) {
    sample taken{now_ns(), how.pid > 0 ? cpu_ns_of(how.pid) : 0, 0};
    for (auto const& w : workers) taken.answered += w->answered();
    return taken;
}

void print(settings const& how, sample const& from, sample const& to, bench::latency_histogram const& latencies) {
    auto const requests = static_cast<double>(to.answered - from.answered);
    double const seconds = static_cast<double>(to.at - from.at) / 1e9;
    std::printf("requests %.0f\nseconds %.4f\nrequests_per_second %.1f\n", requests, seconds, requests / seconds);
    if (how.pid > 0) {
        std::printf("cpu_us_per_request %.4f\n", static_cast<double>(to.cpu - from.cpu) / 1e3 / requests);
    }
    std::printf("p50_us %.1f\np99_us %.1f\nmax_us %.1f\n", static_cast<double>(latencies.percentile(0.5)) / 1e3,
                static_cast<double>(latencies.percentile(0.99)) / 1e3, static_cast<double>(latencies.max()) / 1e3);
}

settings parse(int argc, char** argv) {
    settings found;
    struct {
        char const* name;
        int* value;
    } const options[] = {
        {"--port", &found.port},           {"--pid", &found.pid},     {"--connections", &found.connections},
        {"--bytes", &found.bytes},         {"--depth", &found.depth}, {"--threads", &found.threads},
        {"--warmup-ms", &found.warmup_ms}, {"--ms", &found.ms},       {"--patience-ms", &found.patience_ms}};
    for (int i = 1; i < argc; i += 2) {
        int* value = nullptr;
        for (auto const& option : options) {
            if (std::strcmp(argv[i], option.name) == 0) value = option.value;
        }
        if (value == nullptr || i + 1 == argc) give_up(std::string("unknown option, or no value: ") + argv[i]);
        *value = std::atoi(argv[i + 1]);
    }
    if (found.port <= 0 || found.connections <= 0 || found.bytes <= 0 || found.depth <= 0 || found.threads <= 0 ||
        found.ms <= 0) {
        give_up("--port, and numbers above 0");
    }
    if (found.depth * found.bytes > 65536) give_up("more than 65536 bytes in flight per connection");
    return found;
}

}  // namespace

int main(int argc, char** argv) {
    settings const how = parse(argc, argv);
    bench::raise_file_limit();
    run_state shared;
    auto workers = make_workers(how, shared);
    std::vector<std::thread> threads;
    for (auto& w : workers) threads.emplace_back([&w] { w->run(); });
    sample from, to;
    if (shared.sleep_ms(how.warmup_ms)) {
        from = take_sample(how, workers);
        shared.begin_measuring(from.at);
        if (shared.sleep_ms(how.ms)) to = take_sample(how, workers);
    }
    shared.end();
    for (auto& t : threads) t.join();
    if (auto const failure = shared.failure()) give_up(*failure);
    bench::latency_histogram latencies;
    for (auto const& w : workers) latencies.add(w->latencies());
    if (to.answered == from.answered) give_up("no answer while it was measured");
    print(how, from, to, latencies);
    return 0;
}
