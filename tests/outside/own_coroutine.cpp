// A coroutine type of one's own, not a task, awaits a mutex, a channel, a pool and a shutdown, and is resumed on its own executor.
#include <roost/roost.hpp>

#include <unistd.h>
#include <atomic>
#include <condition_variable>
#include <coroutine>
#include <cstdio>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

// --- what the program had before Roost: a thread with a queue, and a coroutine type whose coroutines run on it ------------------------

// begin loop
class event_loop final : public roost::executor {
public:
    // All that Roost asks of an executor: run this soon, not inside the call.
    bool post(roost::ext::work& w) noexcept override {
        const std::lock_guard lock(mutex_);
        queue_.push_back(&w);
        changed_.notify_one();
        return true;
    }
    void run() {
        for (;;) {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return stopped_ || !queue_.empty(); });
            if (queue_.empty()) {
                return;
            }
            roost::ext::work* next = queue_.front();
            queue_.pop_front();
            lock.unlock();
            next->run();
        }
    }
    void stop() {
        const std::lock_guard lock(mutex_);
        stopped_ = true;
        changed_.notify_one();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<roost::ext::work*> queue_;
    bool stopped_ = false;
};
// end loop

// begin fiber
// Starts at once and destroys itself at its end. Its first parameter is the loop that it runs on.
class fiber {
public:
    struct promise_type {
        template <class... Args>
        explicit promise_type(event_loop& loop, Args&&...) : loop_(&loop) {}
        fiber get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::terminate(); }
        // How Roost learns where to resume it.
        [[nodiscard]] roost::executor_ref get_executor() const noexcept { return *loop_; }

    private:
        event_loop* loop_;
    };
};
// end fiber

// --- the program -----------------------------------------------------------------------------------------------------------------

struct connection {
    int uses = 0;
};

struct shop {
    event_loop loop;
    roost::shutdown server{"shop"};
    roost::mutex accounts;
    roost::channel<int> orders{4};
    roost::pool<connection> database{roost::pool_options(2, "database"), [] { return connection(); }};
    std::atomic<std::thread::id> loop_thread{};
    int sum = 0;
    int served = 0;
    bool at_home = true;
};

void note_thread(shop& s) { s.at_home = s.at_home && std::this_thread::get_id() == s.loop_thread.load(); }

// begin worker
// Takes orders until the server is asked to stop; the guard makes the shutdown wait for it.
fiber worker(event_loop&, shop& s, roost::guard) {
    for (;;) {
        auto order = co_await s.server.interrupt(s.orders.receive());
        if (!order) {
            co_return;  // stopped
        }
        note_thread(s);
        auto used = co_await s.database.acquire();
        if (!used) {
            co_return;
        }
        ++used->uses;
        auto held = co_await s.accounts.lock();
        note_thread(s);
        s.sum += **order;
        ++s.served;
    }
}
// end worker

fiber at_the_end(event_loop& loop, shop& s) {
    co_await s.server.completion().wait();
    loop.stop();
}

int main() {
    ::alarm(60);
    shop s;
    std::thread thread([&s] {
        s.loop_thread = std::this_thread::get_id();
        s.loop.run();
    });
    while (s.loop_thread.load() == std::thread::id()) {
        std::this_thread::yield();
    }
    for (int i = 0; i < 3; ++i) {
        worker(s.loop, s, s.server.guard());
    }
    at_the_end(s.loop, s);
    int expected = 0;
    for (int i = 1; i <= 1000; ++i) {  // a plain thread sends
        static_cast<void>(s.orders.send_blocking(i));
        expected += i;
    }
    while (s.orders.size() != 0) {
        std::this_thread::yield();
    }
    s.server.shut_down().wait_blocking();
    thread.join();
    std::printf("%d orders, sum %d of %d, %s\n", s.served, s.sum, expected, s.at_home ? "all on the loop" : "elsewhere");
    return s.served == 1000 && s.sum == expected && s.at_home ? 0 : 1;
}
