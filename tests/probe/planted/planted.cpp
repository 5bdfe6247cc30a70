// Cases that misbehave on purpose: `tools/probe --self-test` checks that each of them is noticed.
#define PROBE_GROUP "planted"
#include "probe.hpp"

#include <new>

#include <sys/mman.h>
#include <unistd.h>

using namespace probe;

PROBE_CORO(passes) {
    int v = co_await number(7);
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(fails) {
    int v = co_await number(7);
    PROBE_EXPECT(v == 8);
}
PROBE_CASE(crashes) { *static_cast<volatile int*>(nullptr) = 1; }
PROBE_CASE(hangs) {
    for (volatile int forever = 1; forever != 0;) usleep(1000);
}
PROBE_CASE(leaks) { new tracked(1); }
PROBE_CASE(ends_early) { _exit(0); }

// What a miscompiled temporary looks like: two destructor calls for one constructor call.
PROBE_CASE(destroys_twice) {
    alignas(tracked) static unsigned char bytes[sizeof(tracked)];
    auto* t = new (static_cast<void*>(bytes)) tracked(1);
    t->~tracked();
    t->~tracked();
}
// The balance is right, but the object was moved by copying its bytes.
PROBE_CASE(relocates) {
    alignas(tracked) static unsigned char from[sizeof(tracked)], to[sizeof(tracked)];
    new (static_cast<void*>(from)) tracked(1);
    for (std::size_t i = 0; i < sizeof from; ++i) to[i] = from[i];
    reinterpret_cast<tracked*>(to)->~tracked();
}
// An awaiter that writes into the frame after the frame is gone.
namespace {
void* frame_pages = nullptr;
class page_task {
public:
    class promise_type {
    public:
        static void* operator new(std::size_t) {
            frame_pages = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            return frame_pages;
        }
        static void operator delete(void* memory) noexcept { mprotect(memory, 4096, PROT_NONE); }
        page_task get_return_object() const noexcept { return page_task(); }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept {}
    };
};
class late_writer {
public:
    late_writer() noexcept {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> self) const {
        self.destroy();
        *static_cast<volatile char*>(frame_pages) = 1;
    }
    void await_resume() const noexcept {}
};
page_task written_late() { co_await late_writer(); }

int recurse(int n) {
    volatile char room[4096];
    room[n % 4096] = 1;
    return n == 0 ? 0 : recurse(n - 1) + room[n % 4096];
}
} // namespace
PROBE_CASE(touches_freed_frame) { written_late(); }
PROBE_CASE(overflows_stack) { PROBE_EXPECT(recurse(1 << 20) != 0); }
