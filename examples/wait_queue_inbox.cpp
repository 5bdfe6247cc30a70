// A waiter queue in use: one thread fills an inbox, coroutines and a plain thread take turns to empty it.
//
// The three steps of every use: change the state, wake; and on the other side: look, register with the same look, look again.

#include <roost/sync/waiter_queue.hpp>

#include <atomic>
#include <coroutine>
#include <cstdio>
#include <exception>
#include <latch>
#include <thread>

namespace {

// Any coroutine type will do; this one starts at once and cleans up after itself.
struct background {
    struct promise_type {
        background get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::terminate(); }
    };
};

class inbox {
public:
    void put() {
        letters_.fetch_add(1, std::memory_order_seq_cst);  // first the state ...
        readers_.wake_one();  // ... then the wake; one load when no reader waits
    }

    bool try_take() {
        int n = letters_.load(std::memory_order_seq_cst);
        while (n > 0 && !letters_.compare_exchange_weak(n, n - 1, std::memory_order_seq_cst)) {}
        return n > 0;
    }

    background read(int how_many, std::atomic<int>& total, std::latch& done) {
        for (int i = 0; i < how_many; ++i) {
            while (!try_take()) {
                co_await readers_.wait_unless([this] { return letters_.load(std::memory_order_seq_cst) > 0; });
            }
            total.fetch_add(1);
        }
        done.count_down();
    }

    void read_blocking(int how_many, std::atomic<int>& total) {
        for (int i = 0; i < how_many; ++i) {
            while (!try_take()) {
                readers_.wait_blocking([this] { return letters_.load(std::memory_order_seq_cst) > 0; });
            }
            total.fetch_add(1);
        }
    }

private:
    std::atomic<int> letters_{0};
    roost::waiter_queue readers_{"inbox"};
};

}  // namespace

int main() {
    constexpr int each = 1000;
    inbox letters;
    std::atomic<int> total{0};
    std::latch done(2);
    letters.read(each, total, done);  // two coroutines ...
    letters.read(each, total, done);
    std::thread reader([&] { letters.read_blocking(each, total); });  // ... and a thread, in one queue
    for (int i = 0; i < 3 * each; ++i) {
        letters.put();
    }
    reader.join();
    done.wait();
    std::printf("%d letters sent, %d read, no reader left waiting\n", 3 * each, total.load());
    return total.load() == 3 * each ? 0 : 1;
}
