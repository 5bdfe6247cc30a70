// Thread-locals across co_await: the coroutine suspends on one thread and goes on on another. A compiler that keeps the
// address of a thread-local, or what it derived from it, over the suspension reads the first thread's value.
#define PROBE_GROUP "tls"
#include "probe.hpp"

#include <cerrno>
#include <string>
#include <thread>

#include <pthread.h>

using namespace probe;

namespace {

// Suspends; run_across_threads goes on with the coroutine on the next thread.
std::coroutine_handle<> waiting;
struct switch_thread {
    switch_thread() noexcept {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> self) const noexcept { waiting = self; }
    void await_resume() const noexcept {}
};
class wanderer {
public:
    class promise_type {
    public:
        wanderer get_return_object() const noexcept { return wanderer(); }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
};
// Each thread waits for the next one, so no two of them ever share the storage of a thread-local.
void go_on_elsewhere() {
    while (waiting) {
        std::thread([self = std::exchange(waiting, nullptr)] {
            self.resume();
            go_on_elsewhere();
        }).join();
    }
}
template <class Body>
void run_across_threads(Body body) {
    body();
    PROBE_EXPECT(waiting != nullptr);
    go_on_elsewhere();
}

} // namespace

// Not in the anonymous namespace: an optimiser that sees every use would fold the accessors away.
thread_local int plain_value = 0;
thread_local std::string built_value;
struct holder {
    static thread_local int value;
};
thread_local int holder::value = 0;

inline int& inline_accessor() { return plain_value; }
__attribute__((noinline)) int& noinline_accessor() { return plain_value; }
int& function_local() {
    static thread_local int value = 0;
    return value;
}
// What the library relies on: out of line, and not a pure function in the eyes of any optimiser.
__attribute__((noinline)) int* opaque_accessor() {
    int* address = &plain_value;
    asm volatile("" : "+r"(address) : : "memory");
    return address;
}
__attribute__((noinline)) void* opaque_thread_id() {
    void* address = reinterpret_cast<void*>(pthread_self());
    asm volatile("" : "+r"(address) : : "memory");
    return address;
}

PROBE_CASE(variable) {
    run_across_threads([]() -> wanderer {
        plain_value = 1;
        co_await switch_thread();
        PROBE_EXPECT(plain_value == 0);
    });
}
PROBE_CASE(address_taken_before) {
    run_across_threads([]() -> wanderer {
        int* truth = opaque_accessor();
        int* before = &plain_value;
        co_await switch_thread();
        PROBE_EXPECT(before == truth);
    });
}
PROBE_CASE(address_taken_after) {
    run_across_threads([]() -> wanderer {
        int* before = &plain_value;
        *before = 1;
        co_await switch_thread();
        int* after = &plain_value;
        PROBE_EXPECT(after == opaque_accessor());
    });
}
PROBE_CASE(variable_in_loop) {
    run_across_threads([]() -> wanderer {
        for (int i = 0; i < 3; ++i) {
            PROBE_EXPECT(plain_value == 0);
            plain_value = 1;
            co_await switch_thread();
        }
    });
}
PROBE_CASE(variable_in_branches) {
    run_across_threads([]() -> wanderer {
        volatile bool yes = true;
        if (plain_value == 0) plain_value = 1;
        if (yes) co_await switch_thread();
        if (plain_value != 0) probe::fail(__FILE__, __LINE__, "value of the first thread seen");
    });
}
PROBE_CASE(variable_with_constructor) {
    run_across_threads([]() -> wanderer {
        built_value = "first";
        co_await switch_thread();
        PROBE_EXPECT(built_value.empty());
    });
}
PROBE_CASE(static_member) {
    run_across_threads([]() -> wanderer {
        holder::value = 1;
        co_await switch_thread();
        PROBE_EXPECT(holder::value == 0);
    });
}
PROBE_CASE(inline_function) {
    run_across_threads([]() -> wanderer {
        inline_accessor() = 1;
        co_await switch_thread();
        PROBE_EXPECT(inline_accessor() == 0);
    });
}
PROBE_CASE(noinline_function) {
    run_across_threads([]() -> wanderer {
        noinline_accessor() = 1;
        co_await switch_thread();
        PROBE_EXPECT(noinline_accessor() == 0);
    });
}
PROBE_CASE(function_local_variable) {
    run_across_threads([]() -> wanderer {
        function_local() = 1;
        co_await switch_thread();
        PROBE_EXPECT(function_local() == 0);
    });
}
PROBE_CASE(thread_id_taken_before) {
    run_across_threads([]() -> wanderer {
        void* truth = opaque_thread_id();
        auto before = std::this_thread::get_id();
        co_await switch_thread();
        PROBE_EXPECT(before == std::thread::id(reinterpret_cast<pthread_t>(truth)));
    });
}
PROBE_CASE(thread_id_taken_after) {
    run_across_threads([]() -> wanderer {
        static std::thread::id first;
        first = std::this_thread::get_id();
        co_await switch_thread();
        PROBE_EXPECT(std::this_thread::get_id() == std::thread::id(reinterpret_cast<pthread_t>(opaque_thread_id())));
        PROBE_EXPECT(std::this_thread::get_id() != first);
    });
}
PROBE_CASE(errno_across_await) {
    run_across_threads([]() -> wanderer {
        errno = 111;
        co_await switch_thread();
        PROBE_EXPECT(errno != 111);
    });
}
PROBE_CASE(opaque_function) {
    run_across_threads([]() -> wanderer {
        for (int i = 0; i < 3; ++i) {
            PROBE_EXPECT(*opaque_accessor() == 0);
            *opaque_accessor() = 1;
            void* before = opaque_thread_id();
            co_await switch_thread();
            PROBE_EXPECT(opaque_thread_id() != before);
        }
    });
}
