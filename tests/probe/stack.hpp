#pragma once

// Stack use: a million synchronous awaits must keep the stack constant, and so must chains of 100 000 frames, whichever
// way they end. Every case exists twice: with symmetric transfer, where everything hangs on the compiler turning the
// transfer into a tail call, and with a trampoline, which needs nothing from the compiler.
#include "probe.hpp"

#include <cstdint>
#include <new>

namespace probe {

constexpr std::size_t limit = 64 * 1024; // beyond this the case stops: the stack grows with the work

// ---- stack meter ---------------------------------------------------------------------------------------------------

class meter {
public:
    // The frame address, not the address of a local: sanitizers move locals to the heap.
    __attribute__((noinline)) static std::uintptr_t here() {
        auto address = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
        asm volatile("" : "+r"(address));
        return address;
    }
    void start() noexcept { top_ = here(), deepest_ = 0, awaits_ = 0; }
    void await_begins() noexcept {
        ++awaits_;
        sample();
    }
    void sample() noexcept {
        const auto now = here();
        const std::size_t used = now < top_ ? top_ - now : 0;
        if (used > deepest_) deepest_ = used;
        if (used > limit && bounded_) give_up(used);
    }
    void unbounded() noexcept { bounded_ = false; }
    std::size_t deepest() const noexcept { return deepest_; }

private:
    [[noreturn]] void give_up(std::size_t used) const noexcept {
        char text[128];
        std::snprintf(text, sizeof text, "the stack grows by %zu bytes per await", used / awaits_);
        fact("+%zu B", used / awaits_);
        fail("stack", 0, text);
        finish_now();
    }
    std::uintptr_t top_ = 0;
    std::size_t deepest_ = 0;
    std::size_t awaits_ = 0;
    bool bounded_ = true;
};
inline meter stack;
inline long frames_alive = 0; // frames on the heap: a compiler may put a child's frame into its parent's
inline void finish() {
    fact("%zu B", stack.deepest());
    PROBE_EXPECT(frames_alive == 0);
}

// ---- two ways to pass control --------------------------------------------------------------------------------------

inline std::coroutine_handle<> next_up; // the trampoline's hand-over

struct symmetric {
    using result = std::coroutine_handle<>;
    static result transfer(std::coroutine_handle<> to) noexcept { return to; }
    static void run(std::coroutine_handle<> start) { start.resume(); }
};
struct trampoline {
    using result = void;
    static void transfer(std::coroutine_handle<> to) noexcept { next_up = to; }
    static void run(std::coroutine_handle<> start) {
        next_up = start;
        while (next_up) std::exchange(next_up, nullptr).resume();
    }
};

// ---- a task that can be torn down leaf first -----------------------------------------------------------------------

template <class Way>
class chain_task {
public:
    class promise_type;
    using handle_type = std::coroutine_handle<promise_type>;

    class promise_type {
    public:
        static void* operator new(std::size_t size) {
            ++frames_alive;
            return ::operator new(size);
        }
        static void operator delete(void* memory) noexcept {
            --frames_alive;
            ::operator delete(memory);
        }
        chain_task get_return_object() noexcept { return chain_task(handle_type::from_promise(*this)); }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        class last {
        public:
            last() noexcept {}
            bool await_ready() const noexcept { return false; }
            typename Way::result await_suspend(handle_type self) const noexcept {
                stack.sample();
                if (self.promise().parent) return Way::transfer(self.promise().parent);
                return Way::transfer(std::noop_coroutine());
            }
            void await_resume() const noexcept {}
        };
        last final_suspend() const noexcept { return last(); }
        void return_value(int v) noexcept { value = v; }
        void unhandled_exception() noexcept { error = std::current_exception(); }

        handle_type parent, child;
        chain_task* owner = nullptr; // the object that would destroy this frame
        std::exception_ptr error;
        int value = 0;
    };

    explicit chain_task(handle_type handle) noexcept : handle_(handle) {}
    chain_task(chain_task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    ~chain_task() {
        if (handle_) handle_.destroy();
    }
    handle_type handle() const noexcept { return handle_; }
    void disown() noexcept { handle_ = nullptr; }

    class awaiter {
    public:
        explicit awaiter(chain_task& t) noexcept : task_(t) {}
        bool await_ready() const noexcept { return false; }
        typename Way::result await_suspend(handle_type self) const noexcept {
            auto child = task_.handle_;
            child.promise().parent = self;
            child.promise().owner = &task_;
            self.promise().child = child;
            stack.await_begins();
            return Way::transfer(child);
        }
        int await_resume() const {
            stack.sample();
            task_.handle_.promise().parent.promise().child = nullptr;
            if (task_.handle_.promise().error) std::rethrow_exception(task_.handle_.promise().error);
            return task_.handle_.promise().value;
        }

    private:
        chain_task& task_;
    };
    awaiter operator co_await() & noexcept { return awaiter(*this); }
    awaiter operator co_await() && noexcept { return awaiter(*this); }

private:
    handle_type handle_;
};

} // namespace probe

// Registers the case in both groups, so that the matrix tells them apart.
#define BOTH_WAYS(case_name, ...)                                                                  \
    template <class way>                                                                           \
    static void case_name##_case() {                                                               \
        __VA_ARGS__;                                                                               \
    }                                                                                              \
    static test_case case_name##_symmetric("symmetric", #case_name, &case_name##_case<symmetric>); \
    static test_case case_name##_trampoline("trampoline", #case_name, &case_name##_case<trampoline>);
