// A worker pool of plain threads that drains: no coroutine, no runtime. A job holds a guard from the moment it is accepted.
// After stop no job is accepted, and the accepted jobs are finished. The report names a job that takes too long.

#include <roost/shutdown/shutdown.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <optional>
#include <queue>
#include <thread>
#include <vector>

namespace {

class job_queue {
public:
    // begin accept
    bool submit(const roost::shutdown& server) {
        auto working = server.try_guard();  // empty from stop on: refuse the request
        if (!working) return false;
        const std::lock_guard lock(mutex_);
        accepted_.push(std::move(*working));  // dropping the guard ends the work, on any thread
        changed_.notify_one();
        return true;
    }
    // end accept
    // Blocks until there is a job; empty once the queue is closed.
    std::optional<roost::guard> take() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !accepted_.empty() || is_closed_; });
        if (accepted_.empty()) return std::nullopt;
        std::optional<roost::guard> first(std::move(accepted_.front()));
        accepted_.pop();
        return first;
    }
    void close() {
        const std::lock_guard lock(mutex_);
        is_closed_ = true;
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_closed_ = false;
    std::queue<roost::guard> accepted_;
};

}  // namespace

int main() {
    const roost::shutdown server("server");
    job_queue queue;
    std::vector<std::thread> workers;
    for (int i = 0; i < 3; ++i) {
        workers.emplace_back([&queue] {
            while (const auto job = queue.take()) std::this_thread::sleep_for(std::chrono::milliseconds(2));  // the work
        });
    }
    int accepted = 0;
    for (int i = 0; i < 100; ++i) accepted += queue.submit(server) ? 1 : 0;
    // begin end
    auto drained = server.shut_down();  // stop is latched in the whole tree when this returns
    if (!drained.wait_blocking(std::chrono::seconds(10))) {
        std::fputs(server.report().to_string().c_str(), stderr);  // the work that is left
        server.cancel();                                          // jobs below unwind at their next await
    }
    // end end
    const bool refused = !queue.submit(server);
    queue.close();
    for (auto& w : workers) w.join();
    std::printf("accepted %d, left %zu, refused after stop: %s\n", accepted, server.guard_count(), refused ? "yes" : "no");
    return refused && server.guard_count() == 0 ? 0 : 1;
}
