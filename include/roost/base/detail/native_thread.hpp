#pragma once

// Threads, thread-locals and operating-system locks of the native and jitter back ends.

#include <roost/base/clock.hpp>
#include <roost/base/config.hpp>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>

namespace roost::inline ROOST_ABI::seam {

class thread {
public:
    thread() noexcept = default;
    template <class Body>
    explicit thread(Body body) : handle_(std::move(body)) {}
    thread(thread&&) noexcept = default;
    thread& operator=(thread&&) noexcept = default;

    [[nodiscard]] bool joinable() const noexcept { return handle_.joinable(); }
    void join() { handle_.join(); }
    // Returns false if the thread has not ended by the deadline. time_point::min() polls.
    [[nodiscard]] bool join_until(time_point deadline) noexcept;
    // Only for a thread that is abandoned because it does not end.
    void detach() { handle_.detach(); }
    [[nodiscard]] auto native_handle() { return handle_.native_handle(); }

private:
    std::thread handle_;
};

// Returns the smallest number that no other live thread used when this thread first called it.
[[nodiscard]] std::uint32_t thread_index() noexcept;

// One T per thread and Tag. Out of line on purpose: a coroutine may resume on another thread, and a compiler that cached
// the address of a thread-local in its frame would then read its old thread's value.
template <class Tag, class T>
class thread_value {
public:
    [[gnu::noinline]] static T& get() noexcept {
        thread_local T value{};
        asm volatile("" ::: "memory");
        return value;
    }
};

class os_mutex {
public:
    void lock() { impl_.lock(); }
    void unlock() { impl_.unlock(); }

private:
    friend class os_condvar;
    std::mutex impl_;
};

class os_condvar {
public:
    void wait(os_mutex& held) {
        std::unique_lock<std::mutex> lock(held.impl_, std::adopt_lock);
        impl_.wait(lock);
        lock.release();
    }
    // Returns false if the deadline has passed.
    bool wait_until(os_mutex& held, time_point deadline);
    void notify_one() noexcept { impl_.notify_one(); }

private:
    std::condition_variable impl_;
};

inline void spin_hint() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#endif
}
void yield_thread() noexcept;

// Contract: base/atomic.hpp. On other processors it is the clock in nanoseconds.
#if defined(__x86_64__)
[[nodiscard]] inline std::uint64_t ticks() noexcept { return __builtin_ia32_rdtsc(); }
#elif defined(__aarch64__)
[[nodiscard]] inline std::uint64_t ticks() noexcept {
    std::uint64_t count = 0;
    asm volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
}
#else
[[nodiscard]] std::uint64_t ticks() noexcept;
#endif
[[nodiscard]] unsigned hardware_threads() noexcept;

}  // namespace roost::inline ROOST_ABI::seam
