#pragma once

// What the tests of this layer share: executors with a driver, connected streams, and what the process has open.

#include <roost/io/io.hpp>
#include <roost/runtime/loop.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/timeout.hpp>

#include "expect_awaited.hpp"

#include <gtest/gtest.h>

#include <dirent.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <array>
#include <coroutine>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace io_tests {

using namespace awaiting;
using namespace std::chrono_literals;

inline constexpr roost::duration hang_limit = 60s;

// An executor with a driver: a runtime with workers, or a loop on a thread of its own.
class host {
public:
    // workers == 0: a loop.
    explicit host(unsigned workers) {
        if (workers != 0) {
            runtime_ = std::make_unique<roost::runtime>(roost::runtime_options().workers(workers));
            return;
        }
        loop_ = std::make_unique<roost::loop>("loop");
        thread_ = std::thread([this] { loop_->run(); });
    }
    host(const host&) = delete;
    host& operator=(const host&) = delete;
    ~host() {
        if (loop_) {
            loop_->close();
            thread_.join();
        }
    }
    [[nodiscard]] roost::executor_ref where() noexcept {
        return runtime_ ? roost::executor_ref(*runtime_) : roost::executor_ref(*loop_);
    }
    // Runs the task to its end. Fails the test if that takes longer than the hang limit.
    void run(roost::task<> t) {
        bool ended = false;
        try {
            ended = roost::block_on(where(), roost::move_on_after(hang_limit, std::move(t)));
        } catch (const std::exception& e) {
            ADD_FAILURE() << "the task threw: " << e.what();
            return;
        }
        EXPECT_TRUE(ended) << "the task did not end within the hang limit";
    }

private:
    std::unique_ptr<roost::runtime> runtime_;
    std::unique_ptr<roost::loop> loop_;
    std::thread thread_;
};

// Calls test(host&) on a loop, a runtime with one worker and one with two.
template <class Test>
void on_each_host(Test test) {
    for (const unsigned workers : {1U, 2U, 0U}) {
        SCOPED_TRACE(workers == 0 ? "on a loop" : "workers: " + std::to_string(workers));
        host where(workers);
        test(where);
    }
}
// The same for a task that needs no arguments.
inline void on_each_host_run(roost::task<> (*body)()) {
    on_each_host([body](host& where) { where.run(body()); });
}

// A coroutine type that knows nothing of tasks: runs at once, resumes on its first argument, destroys itself at the end.
class foreign {
public:
    class promise_type {
    public:
        template <class... Args>
        explicit promise_type(roost::executor_ref where, Args&&...) noexcept : where_(where) {}
        [[nodiscard]] roost::executor_ref get_executor() const noexcept { return where_; }
        foreign get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::terminate(); }

    private:
        roost::executor_ref where_;
    };
};

// Two ends of a TCP connection on 127.0.0.1.
struct tcp_pair {
    roost::io::tcp_stream client;
    roost::io::tcp_stream server;
};
inline tcp_pair connected() {
    auto door = roost::io::tcp_listener::bind(roost::io::endpoint::loopback(0)).value();
    tcp_pair made;
    made.client = roost::io::tcp_stream::connect(door.local()).blocking(hang_limit).value();
    made.server = door.accept().blocking(hang_limit).value();
    return made;
}
// The same with small buffers in the kernel, so that a writer soon has to wait.
inline tcp_pair connected_narrow() {
    tcp_pair made = connected();
    const int size = 4096;
    for (const int fd : {made.client.native_handle(), made.server.native_handle()}) {
        ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
        ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    }
    return made;
}

// Makes close() send a reset instead of an end.
inline void reset_on_close(int fd) {
    const linger hard{1, 0};
    ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
}

// Returns how many descriptors the process has open.
inline int open_descriptors() {
    DIR* all = ::opendir("/proc/self/fd");
    int count = 0;
    while (::readdir(all) != nullptr) {
        ++count;
    }
    ::closedir(all);
    return count - 3;  // ".", ".." and the directory itself
}

// The processor time that all threads of this process have used.
inline roost::duration cpu_time() {
    timespec used{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

// `size` bytes that differ from their neighbours.
inline std::string pattern(std::size_t size) {
    std::string text(size, '\0');
    std::uint32_t state = 12345;
    for (char& c : text) {
        state = state * 1664525U + 1013904223U;
        c = static_cast<char>(state >> 24U);
    }
    return text;
}

// A directory that is removed with what is in it.
class temporary_directory {
public:
    temporary_directory() {
        if (::mkdtemp(path_.data()) == nullptr) {
            std::abort();
        }
    }
    temporary_directory(const temporary_directory&) = delete;
    temporary_directory& operator=(const temporary_directory&) = delete;
    ~temporary_directory() {
        ::unlink(file("socket").c_str());
        ::unlink(file("data").c_str());
        ::rmdir(path_.c_str());
    }
    [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

private:
    std::string path_ = "/tmp/roost-io-XXXXXX";
};

}  // namespace io_tests
