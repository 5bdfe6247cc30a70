// Plain threads with guards and nothing else: requests that were accepted are done, later ones are refused, and a thread that
// holds the end up is named in the report.
#include <roost/shutdown/shutdown.hpp>

#include <unistd.h>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <optional>
#include <queue>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

// A queue of accepted requests; each holds a guard until it has been served.
class requests {
public:
    bool accept(const roost::shutdown& server, int number) {
        auto accepted = server.try_guard();
        if (!accepted) {
            return false;
        }
        const std::lock_guard lock(mutex_);
        waiting_.emplace(number, std::move(*accepted));
        changed_.notify_one();
        return true;
    }
    std::optional<std::pair<int, roost::guard>> take() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
        if (waiting_.empty()) {
            return std::nullopt;
        }
        std::optional first(std::move(waiting_.front()));
        waiting_.pop();
        return first;
    }
    void close() {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::queue<std::pair<int, roost::guard>> waiting_;
    bool closed_ = false;
};

int main() {
    ::alarm(60);
    const auto fail = [](const char* why) {
        std::puts(why);
        return 1;
    };
    const roost::shutdown server("server");
    requests queue;
    std::atomic<int> served{0};
    std::atomic<int> accepted{0};
    std::atomic<int> refused{0};

    std::vector<std::thread> workers;
    for (int i = 0; i < 3; ++i) {
        workers.emplace_back([&] {
            while (auto request = queue.take()) {
                std::this_thread::yield();  // the work
                ++served;
            }
        });
    }
    std::vector<std::thread> clients;
    for (int i = 0; i < 4; ++i) {
        clients.emplace_back([&] {
            for (int n = 0; refused.load() == 0 || n < 100; ++n) {
                ++(queue.accept(server, n) ? accepted : refused);
            }
        });
    }
    // A worker that takes its time, with a guard on a node of its own.
    const roost::shutdown slow = server.child("slow import");
    std::atomic<bool> may_end{false};
    std::thread importer([&, held = slow.guard()] {
        while (!may_end.load()) {
            std::this_thread::sleep_for(1ms);
        }
    });
    while (accepted.load() == 0) {
        std::this_thread::yield();
    }
    std::this_thread::sleep_for(20ms);

    auto drained = server.shut_down();
    const bool too_early = drained.wait_blocking(roost::now() + 20ms);
    const std::string report = server.report().to_string();
    may_end = true;
    importer.join();
    if (!drained.wait_blocking(roost::now() + 30s)) {
        return fail("the server did not drain");
    }
    for (std::thread& t : clients) {
        t.join();
    }
    queue.close();
    for (std::thread& t : workers) {
        t.join();
    }
    if (too_early) {
        return fail("complete while the import was running");
    }
    if (report.find("slow import") == std::string::npos) {
        return fail("the report does not name the import");
    }
    if (served != accepted || accepted == 0 || refused == 0 || queue.accept(server, 0)) {
        return fail("an accepted request was lost, or one was accepted after the stop");
    }
    return server.state() == roost::shutdown_state::complete ? 0 : fail("not complete");
}
