// A million synchronous awaits, in the shapes that people write, and two coroutines that take turns.
#include "stack.hpp"

using namespace probe;

namespace {

constexpr int awaits = 1'000'000; // plain loop and ping-pong
constexpr int shaped = 100'000;   // the other loops: one byte per await would already break the limit

template <class Way>
void run_to_end(chain_task<Way> t, int expected) {
    stack.start();
    Way::run(t.handle());
    PROBE_EXPECT(t.handle().done());
    if (t.handle().promise().error) probe::fail("stack", 0, "an unexpected exception");
    PROBE_EXPECT(t.handle().promise().value == expected);
}

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

BOTH_WAYS(loop_plain, run_to_end<way>(loop_plain<way>(), awaits); finish())
BOTH_WAYS(loop_named_task, run_to_end<way>(loop_named_task<way>(), shaped); finish())
BOTH_WAYS(loop_inside_try, run_to_end<way>(loop_inside_try<way>(), shaped); finish())
BOTH_WAYS(loop_with_temporaries, run_to_end<way>(loop_with_temporaries<way>(), shaped); finish())
BOTH_WAYS(loop_big_locals, run_to_end<way>(loop_big_locals<way>(), shaped); finish())
BOTH_WAYS(loop_two_levels, run_to_end<way>(loop_two_levels<way>(), shaped); finish())
BOTH_WAYS(loop_in_condition, run_to_end<way>(loop_in_condition<way>(), shaped); finish())
BOTH_WAYS(ping_pong, play_ping_pong<way>())
