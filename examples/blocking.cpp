// Calls that block, from tasks: on a thread of the runtime's blocking lane, with a limit and an interrupter.

#include <roost/roost.hpp>

#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <string>

using namespace roost;
using namespace std::chrono_literals;

namespace {

// begin call
int count_bytes(const std::string& path) {
    std::FILE* file = std::fopen(path.c_str(), "rb");
    if (file == nullptr) {
        return -1;
    }
    int count = 0;
    while (std::fgetc(file) != EOF) {
        ++count;
    }
    std::fclose(file);
    return count;
}

task<int> size_of(std::string path) {
    co_return co_await blocking(count_bytes, path);  // arguments are copied; exceptions arrive here
}
// end call

// begin interrupt
// Waits for ever, unless a byte comes.
int wait_for_byte(int descriptor) {
    pollfd wanted{descriptor, POLLIN, 0};
    return ::poll(&wanted, 1, -1);
}

// Called once, inside cancel(), only while the function runs: it makes the function return.
class write_a_byte {
public:
    explicit write_a_byte(int descriptor) noexcept : descriptor_(descriptor) {}
    void operator()() noexcept { static_cast<void>(!::write(descriptor_, "x", 1)); }

private:
    int descriptor_;
};

task<int> wait_on_lane(int read_end, int write_end) {
    co_return co_await blocking(interrupted_by(write_a_byte(write_end)), wait_for_byte, read_end);
}
// end interrupt

// begin own
// Slow calls of one kind have a lane of their own. They cannot use up the threads that all other calls need.
task<int> size_on(blocking_lane& disk, std::string path) { co_return co_await blocking_on(disk, count_bytes, path); }
// end own

task<bool> all(blocking_lane& disk) {
    const int size = co_await size_of("/proc/self/cmdline");
    const int same = co_await size_on(disk, "/proc/self/cmdline");
    int ends[2];
    if (::pipe(ends) != 0) {
        co_return false;
    }
    // The limit cancels the call, the interrupter ends it. It returned a value, so that is what arrives.
    const auto woken = co_await move_on_after(5ms, wait_on_lane(ends[0], ends[1]));
    ::close(ends[0]);
    ::close(ends[1]);
    std::printf("%d bytes; the poll returned %d\n", size, woken ? *woken : -1);
    co_return size > 0 && same == size;
}

}  // namespace

int main() {
    blocking_lane disk(2, "disk");  // at most two threads
    return run(all(disk)) ? 0 : 1;
}
