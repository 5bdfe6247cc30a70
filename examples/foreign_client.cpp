// A client library that knows no coroutines: it has a descriptor, never blocks, and says what it waits for, as libpq does.

#include <roost/io/io.hpp>
#include <roost/roost.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <thread>

using namespace roost;
using namespace std::chrono_literals;

namespace {

// The library. It owns its descriptor.
class library_client {
public:
    explicit library_client(int fd) : fd_(fd) {}
    library_client(const library_client&) = delete;
    library_client& operator=(const library_client&) = delete;
    ~library_client() { ::close(fd_); }

    [[nodiscard]] int fd() const { return fd_; }
    void send_query(std::string text) { unsent_ = std::move(text); }
    [[nodiscard]] bool wants_to_write() const { return !unsent_.empty(); }
    [[nodiscard]] bool is_done() const { return has_ended_ || answer_.ends_with('\n'); }
    [[nodiscard]] const std::string& answer() const { return answer_; }
    void go_on() {  // as far as it gets without blocking
        const ssize_t sent = unsent_.empty() ? 0 : ::send(fd_, unsent_.data(), unsent_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        unsent_.erase(0, sent > 0 ? static_cast<std::size_t>(sent) : 0);
        char data[64];
        const ssize_t got = ::recv(fd_, data, sizeof data, MSG_DONTWAIT);
        answer_.append(data, got > 0 ? static_cast<std::size_t>(got) : 0);
        has_ended_ = got == 0;
    }

private:
    int fd_;
    std::string unsent_;
    std::string answer_;
    bool has_ended_ = false;
};

// begin ask
task<std::string> ask(library_client& library, std::string query) {
    io::descriptor ready = io::descriptor::borrow(library.fd());  // the library closes it, after this object has gone
    library.send_query(std::move(query));
    while (!library.is_done()) {
        if (library.wants_to_write()) {
            static_cast<void>(co_await ready.writable());
        } else {
            static_cast<void>(co_await ready.readable());
        }
        library.go_on();
    }
    co_return library.answer();
}

task<std::string> ask_in_time(library_client& library) { co_return co_await fail_after(5s, ask(library, "how much?")); }
// end ask

void answer_slowly(int fd) {
    char query[64];
    static_cast<void>(::recv(fd, query, sizeof query, 0));
    for (const char c : {'4', '2', '\n'}) {
        std::this_thread::sleep_for(1ms);
        static_cast<void>(::send(fd, &c, 1, MSG_NOSIGNAL));
    }
    ::close(fd);
}

}  // namespace

int main() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return 1;
    }
    std::thread server(answer_slowly, ends[1]);
    library_client library(ends[0]);
    const std::string answer = run(ask_in_time(library));
    server.join();
    std::printf("answer: %s", answer.c_str());
    return answer == "42\n" ? 0 : 1;
}
