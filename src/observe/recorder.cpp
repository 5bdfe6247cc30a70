#include <roost/observe/recorder.hpp>

#include <roost/observe/detail/descriptor_sink.hpp>
#include <roost/task/detail/job/watching.hpp>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <memory>
#include <string>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

// id  operation   order    pairs  carries                                  fails in
// P1  all of it   seq_cst  -      the prepared file, and who writes it     (no model: it stands around system calls)

namespace roost::inline ROOST_ABI::observe {

using namespace seam;
using detail::descriptor_sink;
using detail::recording_writer;
using detail::writer_memory;
using rings = detail::flight_recorder;

namespace {

constexpr duration prepared_limit = std::chrono::seconds(1);
constexpr std::size_t fewest_records = 16;
constexpr std::size_t most_records = std::size_t(1) << 24U;
constexpr std::size_t most_names = std::size_t(1) << 20U;

// Takes everything into a string.
class string_sink final : public detail::recording_sink {
public:
    [[nodiscard]] bool take(const void* bytes, std::size_t size) noexcept override {
        try {
            text.append(static_cast<const char*>(bytes), size);
            return true;
        } catch (...) {
            return false;
        }
    }
    std::string text;
};

std::error_code system_error(int number) noexcept { return {number, std::system_category()}; }

recording_written write(writer_memory& memory, int descriptor, duration limit) noexcept {
    descriptor_sink to(descriptor, limit);
    recording_writer writer(memory, to);
    const bool complete = writer.run() && to.flush();
    return recording_written(complete ? std::error_code() : system_error(to.error()), to.bytes(), writer.written(),
                             writer.lost());
}

// A file that was opened, and the memory to write it, for a moment when nothing can be opened or allocated any more. Never freed:
// a signal handler may have found it just before it was replaced.
class prepared_file {
public:
    explicit prepared_file(const char* path)
        : memory(std::max(rings::largest_ring(), recorder_options().records())),
          fd(::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600)) {
        if (fd < 0) {
            throw std::system_error(errno, std::system_category(), "recorder::prepare_file: " + std::string(path));
        }
    }
    prepared_file(const prepared_file&) = delete;
    prepared_file& operator=(const prepared_file&) = delete;
    ~prepared_file() = delete;
    // Requires that the caller has claimed it.
    void close() noexcept {
        ::close(fd);
        memory = writer_memory(0);
    }

    writer_memory memory;
    int fd;
    atomic<bool> is_written{false};
    atomic<bool> is_done{false};
};

constinit atomic<prepared_file*> prepared{nullptr};

constexpr int crash_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
struct ::sigaction actions_before[std::size(crash_signals)];
constinit atomic<bool> crash_is_handled{false};

// Another thread may be writing the file: the process must not end meanwhile.
void await_other_writer() noexcept {
    const prepared_file* const to = prepared.load(mo::seq_cst);  // P1
    const auto most = std::chrono::duration_cast<std::chrono::milliseconds>(prepared_limit).count();
    for (std::int64_t i = 0; i < most && to != nullptr && !to->is_done.load(mo::seq_cst); ++i) {  // P1
        ::poll(nullptr, 0, 1);
    }
}

// Writes the file, gives the signal back to its handler of before, and raises it again: it arrives when this one returns.
void on_crash(int number) noexcept {
    const int kept = errno;
    if (recorder::write_prepared().error() == std::errc::operation_not_permitted) {
        await_other_writer();
    }
    for (std::size_t i = 0; i < std::size(crash_signals); ++i) {
        if (crash_signals[i] == number) {
            ::sigaction(number, &actions_before[i], nullptr);
        }
    }
    ::raise(number);
    errno = kept;
}

}  // namespace

bool recorder::start(const recorder_options& how) {
    rings::limits limits;
    limits.records = std::bit_ceil(std::clamp(how.records(), fewest_records, most_records));
    limits.threads = std::min(how.threads(), rings::most_threads);
    limits.names = std::bit_ceil(std::clamp<std::size_t>(how.names(), 1, most_names));
    const bool began = rings::start(limits);
    detail::watching::all().record(true);
    return began;
}

bool recorder::stop() noexcept {
    detail::watching::all().record(false);
    return rings::stop();
}

bool recorder::is_on() noexcept { return rings::now() != 0; }

recording recorder::snapshot() {
    writer_memory memory(std::max(rings::largest_ring(), fewest_records));
    string_sink to;
    recording_writer writer(memory, to);
    if (!writer.run()) {
        throw std::bad_alloc();
    }
    return read_recording(to.text);
}

recording_written recorder::write_to(int descriptor, duration limit) noexcept {
    try {
        writer_memory memory(std::max(rings::largest_ring(), fewest_records));
        return write(memory, descriptor, limit);
    } catch (const std::bad_alloc&) {
        return recording_written(std::make_error_code(std::errc::not_enough_memory));
    }
}

recording_written recorder::write_file(const char* path) noexcept {
    const int fd = ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
    if (fd < 0) {
        return recording_written(system_error(errno));
    }
    const recording_written done = write_to(fd);
    if (::close(fd) != 0 && errno != EINTR && !done.error()) {  // some file systems tell of a full disk only now
        return recording_written(system_error(errno), done.bytes(), 0, done.records() + done.lost());
    }
    return done;
}

void recorder::prepare_file(const char* path) {
    prepared_file* const before = prepared.exchange(new prepared_file(path), mo::seq_cst);  // P1
    if (before == nullptr) {
        return;
    }
    const bool is_mine = !before->is_written.exchange(true, mo::seq_cst);  // P1
    if (is_mine || before->is_done.load(mo::seq_cst)) {  // P1
        before->close();
    }
}

recording_written recorder::write_prepared() noexcept {
    prepared_file* const to = prepared.load(mo::seq_cst);  // P1
    if (to == nullptr) {
        return recording_written(std::make_error_code(std::errc::bad_file_descriptor));
    }
    if (to->is_written.exchange(true, mo::seq_cst)) {  // P1
        return recording_written(std::make_error_code(std::errc::operation_not_permitted));
    }
    const recording_written done = write(to->memory, to->fd, prepared_limit);
    to->is_done.store(true, mo::seq_cst);  // P1
    return done;
}

void recorder::write_on_crash() {
    if (crash_is_handled.exchange(true, mo::seq_cst)) {  // P1
        return;
    }
    struct ::sigaction action{};
    action.sa_handler = on_crash;
    action.sa_flags = SA_ONSTACK;
    ::sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < std::size(crash_signals); ++i) {
        if (::sigaction(crash_signals[i], &action, &actions_before[i]) != 0) {
            throw std::system_error(errno, std::system_category(), "recorder::write_on_crash");
        }
    }
}

}  // namespace roost::inline ROOST_ABI::observe
