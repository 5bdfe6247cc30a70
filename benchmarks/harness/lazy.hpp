// The smallest coroutine type that can be measured: started by hand, frame from a one-block recycler, resumes whoever
// awaits it by symmetric transfer. Used by floors and by subjects whose library has no coroutine type of its own.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>

namespace bench {

// Frames of equal size come back from a per-thread list, so measuring a coroutine does not measure malloc.
class frame_recycler {
public:
    static void* take(std::size_t size) {
        auto& list = lists()[slot(size)];
        if (list != nullptr) {
            void* block = list;
            list = *static_cast<void**>(block);
            return block;
        }
        return ::operator new(rounded(size));
    }
    static void give(void* block, std::size_t size) noexcept {
        auto& list = lists()[slot(size)];
        *static_cast<void**>(block) = list;
        list = block;
    }

private:
    static std::size_t rounded(std::size_t size) { return (slot(size) + 1) * 64; }
    static std::size_t slot(std::size_t size) {
        std::size_t const s = (size - 1) / 64;
        if (s >= 32) std::abort();
        return s;
    }
    static void** lists() {
        thread_local void* all[32] = {};
        return all;
    }
};

struct recycled_frame {
    static void* operator new(std::size_t size) { return frame_recycler::take(size); }
    static void operator delete(void* block, std::size_t size) noexcept { frame_recycler::give(block, size); }
};

// Lazy; awaiting it runs it and comes back by symmetric transfer.
class lazy {
public:
    struct promise_type : recycled_frame {
        std::coroutine_handle<> next = std::noop_coroutine();
        lazy get_return_object() { return lazy(std::coroutine_handle<promise_type>::from_promise(*this)); }
        std::suspend_always initial_suspend() noexcept { return {}; }
        struct hand_over {
            bool await_ready() noexcept { return false; }
            std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) noexcept {
                return self.promise().next;
            }
            void await_resume() noexcept {}
        };
        hand_over final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::abort(); }
    };

    explicit lazy(std::coroutine_handle<promise_type> h) noexcept : handle_(h) {}
    lazy(lazy&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
    lazy& operator=(lazy&&) = delete;
    ~lazy() {
        if (handle_) handle_.destroy();
    }

    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
        handle_.promise().next = caller;
        return handle_;
    }
    void await_resume() const noexcept {}

    void start() const { handle_.resume(); }
    [[nodiscard]] bool done() const { return handle_.done(); }
    [[nodiscard]] std::coroutine_handle<> handle() const { return handle_; }

private:
    std::coroutine_handle<promise_type> handle_;
};

} // namespace bench
