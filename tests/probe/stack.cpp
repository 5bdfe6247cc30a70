// Long because every stack shape stands beside its symmetric and its trampoline variant.
// Stack use: a million synchronous awaits must keep the stack constant, and so must chains of 100 000 frames, whichever
// way they end. Every case exists twice: with symmetric transfer, where everything hangs on the compiler turning the
// transfer into a tail call, and with a trampoline, which needs nothing from the compiler.
#include "probe.hpp"

#include <cstdint>
#include <new>

#include <pthread.h>

using namespace probe;

namespace {

constexpr int awaits = 1'000'000; // plain loop and ping-pong
constexpr int shaped = 100'000;   // the other loops: one byte per await would already break the limit below
constexpr int depth = 100'000;
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
meter stack;
long frames_alive = 0; // frames on the heap: a compiler may put a child's frame into its parent's
void finish() {
    fact("%zu B", stack.deepest());
    PROBE_EXPECT(frames_alive == 0);
}

// ---- two ways to pass control --------------------------------------------------------------------------------------

std::coroutine_handle<> next_up; // the trampoline's hand-over

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

// Destroys a suspended chain from its leaf to its root, one frame at a time.
template <class Handle>
void destroy_leaf_first(Handle leaf) {
    while (leaf) {
        stack.sample();
        auto parent = leaf.promise().parent;
        if (leaf.promise().owner) leaf.promise().owner->disown();
        leaf.destroy();
        leaf = parent;
    }
}

template <class Way>
void run_to_end(chain_task<Way> t, int expected) {
    stack.start();
    Way::run(t.handle());
    PROBE_EXPECT(t.handle().done());
    if (t.handle().promise().error) probe::fail("stack", 0, "an unexpected exception");
    PROBE_EXPECT(t.handle().promise().value == expected);
}

// ---- a million synchronous awaits, in the shapes that people write --------------------------------------------------

template <class Way>
chain_task<Way> one() {
    co_return 1;
}
template <class Way>
chain_task<Way> one_with(tracked t, int n) {
    co_return t + n;
}
template <class Way>
chain_task<Way> through_two_levels() {
    co_return co_await one<Way>();
}

template <class Way>
chain_task<Way> loop_plain() {
    int sum = 0;
    for (int i = 0; i < awaits; ++i) sum += co_await one<Way>();
    co_return sum;
}
template <class Way>
chain_task<Way> loop_named_task() {
    int sum = 0;
    for (int i = 0; i < shaped; ++i) {
        auto t = one<Way>();
        sum += co_await t;
    }
    co_return sum;
}
template <class Way>
chain_task<Way> loop_inside_try() {
    int sum = 0;
    for (int i = 0; i < shaped; ++i) {
        tracked guard(i);
        try {
            tracked inner(i);
            sum += co_await one<Way>();
        } catch (boom&) {
            sum = 0;
        }
    }
    co_return sum;
}
template <class Way>
chain_task<Way> loop_with_temporaries() {
    int sum = 0;
    for (int i = 0; i < shaped; ++i) sum += co_await one_with<Way>(tracked(1), tracked(1).value() - 1);
    co_return sum;
}
template <class Way>
chain_task<Way> loop_big_locals() {
    int sum = 0;
    for (int i = 0; i < shaped; ++i) {
        volatile char scratch[512];
        scratch[i % 512] = 1;
        sum += co_await one<Way>();
        sum += scratch[i % 512] - 1;
    }
    co_return sum;
}
template <class Way>
chain_task<Way> loop_two_levels() {
    int sum = 0;
    for (int i = 0; i < shaped; ++i) sum += co_await through_two_levels<Way>();
    co_return sum;
}
template <class Way>
chain_task<Way> loop_in_condition() {
    int sum = 0;
    while (sum < shaped && co_await one<Way>() == 1) ++sum;
    co_return sum;
}

// Two coroutines that hand control to each other half a million times each.
template <class Way>
struct ping_pong {
    class side {
    public:
        class promise_type {
        public:
            side get_return_object() noexcept { return side(std::coroutine_handle<promise_type>::from_promise(*this)); }
            std::suspend_always initial_suspend() const noexcept { return {}; }
            std::suspend_always final_suspend() const noexcept { return {}; }
            void return_void() const noexcept {}
            void unhandled_exception() const noexcept { std::terminate(); }
        };
        explicit side(std::coroutine_handle<> h) noexcept : handle(h) {}
        side(side&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
        ~side() {
            if (handle) handle.destroy();
        }
        std::coroutine_handle<> handle;
    };
    class pass {
    public:
        explicit pass(std::coroutine_handle<>& to) noexcept : to_(to) {}
        bool await_ready() const noexcept { return false; }
        typename Way::result await_suspend(std::coroutine_handle<>) const noexcept {
            stack.await_begins();
            return Way::transfer(to_);
        }
        void await_resume() const noexcept {}

    private:
        std::coroutine_handle<>& to_;
    };
    static side play(std::coroutine_handle<>& other, int& rounds) {
        while (rounds < awaits) {
            ++rounds;
            co_await pass(other);
        }
    }
};

// ---- chains of 100 000 frames --------------------------------------------------------------------------------------

template <class Way>
typename chain_task<Way>::handle_type leaf_of_chain;
template <class Way>
class stop_here {
public:
    stop_here() noexcept {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(typename chain_task<Way>::handle_type self) const noexcept {
        leaf_of_chain<Way> = self;
        if constexpr (std::is_same_v<Way, trampoline>) next_up = nullptr;
    }
    void await_resume() const noexcept {}
};
template <class Way>
chain_task<Way> chain(int n, bool throws) {
    tracked local(n);
    if (n == 0) {
        co_await stop_here<Way>();
        if (throws) throw boom{};
        co_return 1;
    }
    int below = co_await chain<Way>(n - 1, throws);
    co_return below + 1;
}
template <class Way>
void grow(chain_task<Way>& root) {
    stack.start();
    Way::run(root.handle());
    PROBE_EXPECT(seen.built - seen.destroyed == depth + 1);
    PROBE_EXPECT(leaf_of_chain<Way> != nullptr);
}

template <class Way>
void deep_complete() {
    {
        auto root = chain<Way>(depth, false);
        grow<Way>(root);
        Way::run(leaf_of_chain<Way>);
        PROBE_EXPECT(root.handle().done() && root.handle().promise().value == depth + 1);
    }
    finish();
}
template <class Way>
void deep_throw() {
    {
        auto root = chain<Way>(depth, true);
        grow<Way>(root);
        Way::run(leaf_of_chain<Way>);
        bool caught = false;
        try {
            if (root.handle().promise().error) std::rethrow_exception(root.handle().promise().error);
        } catch (boom&) {
            caught = true;
        }
        PROBE_EXPECT(caught);
    }
    finish();
}
// Cancellation by whoever holds the leaf: nothing is resumed, frames go leaf first.
template <class Way>
void deep_cancel() {
    {
        auto root = chain<Way>(depth, false);
        grow<Way>(root);
        destroy_leaf_first(leaf_of_chain<Way>);
        root.disown();
    }
    finish();
}
// The owner of the root goes away: it walks down to the leaf and destroys upward.
template <class Way>
void deep_teardown() {
    {
        auto root = chain<Way>(depth, false);
        grow<Way>(root);
        auto leaf = root.handle();
        while (leaf.promise().child) leaf = leaf.promise().child;
        destroy_leaf_first(leaf);
        root.disown();
    }
    finish();
}
// What the naive way costs: destroying the root destroys its child inside, and so on. Recursion by nature, so this
// only has to be right, on a stack that is big enough; the figure is the stack per level.
class deep_probe {
public:
    ~deep_probe() {
        stack.sample();
        ++destroyed;
    }
    static inline int destroyed = 0;
};
template <class Way>
chain_task<Way> nested_chain(int n) {
    deep_probe at_the_end;
    if (n == 0) {
        co_await stop_here<Way>();
        co_return 1;
    }
    int below = co_await nested_chain<Way>(n - 1);
    co_return below + 1;
}
template <class Way>
void* nested_body(void*) {
    stack.unbounded();
    stack.start();
    constexpr int levels = 10'000; // enough for a slope, kind to sanitizers with a shadow stack
    {
        auto root = nested_chain<Way>(levels);
        Way::run(root.handle());
        stack.start();
    }
    PROBE_EXPECT(deep_probe::destroyed == levels + 1);
    fact("%zu B/level", stack.deepest() / levels);
    PROBE_EXPECT(frames_alive == 0);
    return nullptr;
}
template <class Way>
void nested_teardown() {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, std::size_t{256} << 20);
    pthread_t thread;
    if (pthread_create(&thread, &attributes, &nested_body<Way>, nullptr) != 0) std::abort();
    pthread_join(thread, nullptr);
}

template <class Way>
void play_ping_pong() {
    std::coroutine_handle<> a, b;
    int rounds = 0;
    {
        auto left = ping_pong<Way>::play(b, rounds);
        auto right = ping_pong<Way>::play(a, rounds);
        a = left.handle, b = right.handle;
        stack.start();
        Way::run(a);
    }
    PROBE_EXPECT(rounds == awaits);
    finish();
}

} // namespace

// Registers the case in both groups, so that the matrix tells them apart.
#define BOTH_WAYS(case_name, ...)                                                                  \
    template <class way>                                                                           \
    static void case_name##_case() {                                                               \
        __VA_ARGS__;                                                                               \
    }                                                                                              \
    static test_case case_name##_symmetric("symmetric", #case_name, &case_name##_case<symmetric>); \
    static test_case case_name##_trampoline("trampoline", #case_name, &case_name##_case<trampoline>);

BOTH_WAYS(loop_plain, run_to_end<way>(loop_plain<way>(), awaits); finish())
BOTH_WAYS(loop_named_task, run_to_end<way>(loop_named_task<way>(), shaped); finish())
BOTH_WAYS(loop_inside_try, run_to_end<way>(loop_inside_try<way>(), shaped); finish())
BOTH_WAYS(loop_with_temporaries, run_to_end<way>(loop_with_temporaries<way>(), shaped); finish())
BOTH_WAYS(loop_big_locals, run_to_end<way>(loop_big_locals<way>(), shaped); finish())
BOTH_WAYS(loop_two_levels, run_to_end<way>(loop_two_levels<way>(), shaped); finish())
BOTH_WAYS(loop_in_condition, run_to_end<way>(loop_in_condition<way>(), shaped); finish())
BOTH_WAYS(ping_pong, play_ping_pong<way>())
BOTH_WAYS(deep_complete, deep_complete<way>())
BOTH_WAYS(deep_throw, deep_throw<way>())
BOTH_WAYS(deep_cancel, deep_cancel<way>())
BOTH_WAYS(deep_teardown, deep_teardown<way>())
BOTH_WAYS(nested_teardown, nested_teardown<way>())
