// Parameters: how they reach the frame, how often they are copied, when they are destroyed.
#define PROBE_GROUP "parameters"
#include "probe.hpp"

#include <memory>
#include <new>
#include <string>

using namespace probe;

namespace {

task<int> by_value(tracked t) {
    co_await hop();
    co_return t;
}
task<int> by_const_value(const tracked t) {
    co_await hop();
    co_return t;
}
task<int> by_reference(tracked& t) {
    co_await hop();
    t = tracked(t + 1);
    co_return t;
}
task<int> by_rvalue(tracked&& t) {
    co_await hop();
    tracked own = std::move(t);
    co_return own;
}
task<int> unused(tracked) {
    co_await hop();
    co_return 7;
}
task<int> before_first_await(tracked t) {
    int v = t;
    co_await hop();
    co_return v;
}
template <class T>
task<int> generic(T t) {
    co_await hop();
    co_return t;
}
template <class T>
task<int> forwarded(T&& t) {
    co_await hop();
    co_return t;
}
task<int> three(tracked a, tracked b, tracked c) {
    co_await hop();
    co_return a * 100 + b * 10 + c;
}
task<int> shadowing(tracked t) {
    int sum = t;
    for (int i = 0; i < 2; ++i) {
        tracked t(10);
        co_await hop();
        sum += t;
    }
    co_return sum + t;
}
task<std::unique_ptr<tracked>> move_only(std::unique_ptr<tracked> p) {
    co_await hop();
    co_return p;
}
task<tracked> returned_parameter(tracked t) {
    co_await hop();
    co_return t;
}
task<int> big(tracked a, std::string s, double d, tracked b) {
    co_await hop();
    co_return a + b + static_cast<int>(s.size()) + static_cast<int>(d);
}
class object {
public:
    explicit object(int v) : value_(v) {}
    task<int> read() const {
        co_await hop();
        co_return value_;
    }

private:
    tracked value_;
};

// A promise whose constructor sees the parameters, and whose frame allocation may fail.
class picky {
public:
    class promise_type {
    public:
        promise_type(tracked& t, int) : seen_at_start(t) {}
        static void* operator new(std::size_t size, tracked& t, int fail_now) noexcept {
            PROBE_EXPECT(t == 7);
            return fail_now != 0 ? nullptr : ::operator new(size, std::nothrow);
        }
        static void operator delete(void* memory) noexcept { ::operator delete(memory); }
        static picky get_return_object_on_allocation_failure() noexcept { return picky(nullptr); }
        picky get_return_object() noexcept { return picky(std::coroutine_handle<promise_type>::from_promise(*this)); }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        std::suspend_always final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
        int seen_at_start;
    };
    explicit picky(std::coroutine_handle<promise_type> h) noexcept : handle(h) {}
    picky(picky&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
    ~picky() {
        if (handle) handle.destroy();
    }
    std::coroutine_handle<promise_type> handle;
};
picky picky_coroutine(tracked t, int) {
    co_await std::suspend_always();
    PROBE_EXPECT(t == 7);
}

} // namespace

PROBE_CORO(copied_once_from_lvalue) {
    tracked s(7);
    int v = co_await by_value(s);
    PROBE_EXPECT(v == 7 && s == 7);
    PROBE_EXPECT(seen.copied == 1);
    PROBE_EXPECT(seen.moved == 1);
}
PROBE_CORO(moved_from_rvalue) {
    tracked s(7);
    int v = co_await by_value(std::move(s));
    PROBE_EXPECT(v == 7);
    PROBE_EXPECT(seen.copied == 0 && seen.moved == 2);
}
PROBE_CORO(moved_once_from_prvalue) {
    int v = co_await by_value(tracked(7));
    PROBE_EXPECT(v == 7);
    PROBE_EXPECT(seen.copied == 0 && seen.moved == 1);
}
PROBE_CORO(const_parameter) {
    tracked s(7);
    int v = co_await by_const_value(s);
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(reference_parameter) {
    tracked s(6);
    int v = co_await by_reference(s);
    PROBE_EXPECT(v == 7 && s == 7);
}
PROBE_CORO(rvalue_reference_parameter) {
    tracked s(7);
    int v = co_await by_rvalue(std::move(s));
    int w = co_await by_rvalue(tracked(7));
    PROBE_EXPECT(v == 7 && w == 7);
}
PROBE_CORO(unnamed_parameter) {
    int v = co_await unused(tracked(1));
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(parameter_used_only_before_await) {
    int v = co_await before_first_await(tracked(7));
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(template_parameter_and_forwarding) {
    tracked s(7);
    int a = co_await generic(s);
    int b = co_await forwarded(s);
    int c = co_await forwarded(tracked(7));
    PROBE_EXPECT(a == 7 && b == 7 && c == 7);
}
PROBE_CORO(several_parameters) {
    tracked s(2);
    int v = co_await three(tracked(1), s, std::move(s));
    int w = co_await big(tracked(1), "four", 1.5, tracked(1));
    PROBE_EXPECT(v % 10 == 2 && w == 7);
}
PROBE_CORO(local_shadows_parameter) {
    int v = co_await shadowing(tracked(1));
    PROBE_EXPECT(v == 22);
}
PROBE_CORO(move_only_parameter_returned) {
    auto p = co_await move_only(std::make_unique<tracked>(7));
    PROBE_EXPECT(*p == 7);
}
PROBE_CORO(parameter_returned_by_move) {
    tracked t = co_await returned_parameter(tracked(7));
    PROBE_EXPECT(t == 7);
    PROBE_EXPECT(seen.copied == 0);
}
PROBE_CORO(this_of_named_object) {
    object o(7);
    int v = co_await o.read();
    PROBE_EXPECT(v == 7);
}
PROBE_CASE(parameters_outlive_the_call) {
    auto t = [] { return by_value(tracked(7)); }();
    PROBE_EXPECT(seen.built - seen.destroyed == 1);
    PROBE_EXPECT(drive(t));
}
PROBE_CASE(never_started_task_frees_parameters) {
    { auto t = three(tracked(1), tracked(2), tracked(3)); }
    PROBE_EXPECT(seen.built == seen.destroyed && seen.frames == 0);
}
PROBE_CASE(copy_into_frame_throws) {
    tracked s(7);
    tracked::moves_until_throw = 1;
    bool caught = false;
    try {
        auto t = by_value(s);
    } catch (tracked::move_failed) {
        caught = true;
    }
    PROBE_EXPECT(caught && seen.frames == 0);
}
PROBE_CASE(second_copy_into_frame_throws) {
    tracked::moves_until_throw = 2;
    bool caught = false;
    try {
        auto t = three(tracked(1), tracked(2), tracked(3));
    } catch (tracked::move_failed) {
        caught = true;
    }
    PROBE_EXPECT(caught && seen.frames == 0);
}
PROBE_CASE(promise_constructor_and_allocation_see_parameters) {
    picky p = picky_coroutine(tracked(7), 0);
    PROBE_EXPECT(p.handle && p.handle.promise().seen_at_start == 7);
    p.handle.resume();
    p.handle.resume();
    PROBE_EXPECT(p.handle.done());
}
PROBE_CASE(allocation_failure_frees_parameters) {
    picky p = picky_coroutine(tracked(7), 1);
    PROBE_EXPECT(!p.handle);
    PROBE_EXPECT(seen.built == seen.destroyed);
}
