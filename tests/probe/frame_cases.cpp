// Frame after suspend: once await_suspend has given the coroutine away, its frame may be resumed, finished and freed by
// somebody else before await_suspend returns. Here it is, and its pages become inaccessible at once: any touch is fatal.
#define PROBE_GROUP "frame"
#include "probe.hpp"

#include <cstdint>

#include <sys/mman.h>

using namespace probe;

namespace {

constexpr std::size_t page = 4096;

// Fire and forget; the frame has whole pages of its own, which are sealed when it is freed.
class sealed {
public:
    class promise_type {
    public:
        static void* operator new(std::size_t size) {
            if (size > page * 4) std::abort();
            void* memory = mmap(nullptr, page * 4, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (memory == MAP_FAILED) std::abort();
            ++seen.frames;
            return memory;
        }
        static void operator delete(void* memory) noexcept {
            --seen.frames;
            if (mprotect(memory, page * 4, PROT_NONE) != 0) std::abort();
        }
        sealed get_return_object() const noexcept { return sealed(); }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
};

// What happens to the coroutine inside await_suspend.
enum class fate { destroyed, resumed };
volatile bool give_away = true;

void dispose(fate f, std::coroutine_handle<> self) {
    if (f == fate::destroyed)
        self.destroy();
    else
        self.resume(); // runs to its end, which frees the frame
}

template <fate Fate>
class returns_void {
public:
    returns_void() noexcept {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> self) const { dispose(Fate, self); }
    void await_resume() const noexcept {}
};
template <fate Fate>
class returns_bool {
public:
    returns_bool() noexcept {}
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> self) const { return dispose(Fate, self), true; }
    void await_resume() const noexcept {}
};
template <fate Fate>
class returns_handle {
public:
    returns_handle() noexcept {}
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> self) const {
        return dispose(Fate, self), std::noop_coroutine();
    }
    void await_resume() const noexcept {}
};
template <fate Fate>
class returns_handle_noinline {
public:
    returns_handle_noinline() noexcept {}
    bool await_ready() const noexcept { return false; }
    __attribute__((noinline)) std::coroutine_handle<> await_suspend(std::coroutine_handle<> self) const {
        return dispose(Fate, self), std::noop_coroutine();
    }
    void await_resume() const noexcept {}
};
// Sometimes gives itself away, sometimes goes on: the compiler has to keep both paths.
class returns_handle_or_self {
public:
    returns_handle_or_self() noexcept {}
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> self) const {
        if (!give_away) return self;
        give_away = false; // the resumed rest must not do it again
        return self.resume(), std::noop_coroutine();
    }
    void await_resume() const noexcept {}
};

template <class Awaiter>
sealed once() {
    tracked local(1);
    co_await Awaiter();
    PROBE_EXPECT(local == 1);
}
template <class Awaiter>
sealed in_loop() {
    for (int i = 0; i < 2; ++i) {
        tracked local(i);
        co_await Awaiter();
        PROBE_EXPECT(local == i);
    }
}
template <class Awaiter>
sealed in_try(tracked parameter) {
    try {
        Awaiter named;
        tracked local(1);
        co_await named;
        PROBE_EXPECT(local == parameter);
    } catch (...) {
        probe::fail(__FILE__, __LINE__, "no exception expected");
    }
}
template <class Awaiter>
void all_shapes() {
    give_away = true;
    once<Awaiter>();
    give_away = true;
    in_loop<Awaiter>();
    give_away = true;
    in_try<Awaiter>(tracked(1));
}

// A final awaiter that frees its own coroutine and goes on with somebody else.
class self_freeing {
public:
    class promise_type : public sealed::promise_type {
    public:
        self_freeing get_return_object() noexcept { return self_freeing(); }
        class last {
        public:
            last() noexcept {}
            bool await_ready() const noexcept { return false; }
            std::coroutine_handle<> await_suspend(std::coroutine_handle<> self) const noexcept {
                self.destroy();
                return std::noop_coroutine();
            }
            void await_resume() const noexcept {}
        };
        last final_suspend() const noexcept { return last(); }
    };
};
self_freeing frees_itself(tracked t) {
    tracked local(t);
    co_await std::suspend_never();
}

} // namespace

PROBE_CASE(void_destroyed) { all_shapes<returns_void<fate::destroyed>>(); }
PROBE_CASE(void_resumed) { all_shapes<returns_void<fate::resumed>>(); }
PROBE_CASE(bool_destroyed) { all_shapes<returns_bool<fate::destroyed>>(); }
PROBE_CASE(bool_resumed) { all_shapes<returns_bool<fate::resumed>>(); }
PROBE_CASE(handle_destroyed) { all_shapes<returns_handle<fate::destroyed>>(); }
PROBE_CASE(handle_resumed) { all_shapes<returns_handle<fate::resumed>>(); }
PROBE_CASE(handle_noinline_destroyed) { all_shapes<returns_handle_noinline<fate::destroyed>>(); }
PROBE_CASE(handle_noinline_resumed) { all_shapes<returns_handle_noinline<fate::resumed>>(); }
PROBE_CASE(handle_or_self) { all_shapes<returns_handle_or_self>(); }
PROBE_CASE(final_awaiter_frees_its_coroutine) { frees_itself(tracked(1)); }
