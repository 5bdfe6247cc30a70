// Closures inside expressions that contain co_await.
#define PROBE_GROUP "closures"
#include "probe.hpp"

#include <functional>

using namespace probe;

namespace {

template <class F>
task<int> by_value(F f) {
    co_await hop();
    co_return f();
}
template <class F>
task<int> by_rvalue(F&& f) {
    co_await hop();
    co_return f();
}
template <class F>
task<int> by_const_ref(const F& f) {
    co_await hop();
    co_return f();
}
template <class F>
task<int> with_args(F f, tracked a) {
    co_await hop();
    co_return f(a);
}
task<int> erased(std::function<int()> f) {
    co_await hop();
    co_return f();
}
template <class F>
int call_now(F f) {
    return f();
}

template <class F>
class wrapper {
public:
    explicit wrapper(F f) : f_(std::move(f)) {}
    int operator()() const { return f_(); }
    class awaiter {
    public:
        explicit awaiter(const wrapper& owner) : owner_(owner) {}
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> self) const noexcept { ready(self); }
        int await_resume() const { return owner_(); }

    private:
        const wrapper& owner_;
    };
    awaiter operator co_await() const& { return awaiter(*this); }

private:
    F f_;
};
template <class F>
class immediate {
public:
    explicit immediate(F f) : f_(std::move(f)) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> self) const noexcept { ready(self); }
    int await_resume() const { return f_(); }

private:
    F f_;
};

class functor {
public:
    explicit functor(tracked t) : t_(std::move(t)) {}
    int operator()() const { return t_; }

private:
    tracked t_;
};

auto closure_maker(tracked t) {
    return [t = std::move(t)] { return t.value(); };
}

} // namespace

PROBE_CORO(capture_by_value_into_value) {
    tracked s(7);
    int v = co_await by_value([s] { return s.value(); });
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(capture_by_value_into_rvalue_reference) {
    tracked s(7);
    int v = co_await by_rvalue([s] { return s.value(); });
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(capture_by_value_into_const_reference) {
    tracked s(7);
    int v = co_await by_const_ref([s] { return s.value(); });
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(init_capture_by_move) {
    tracked s(7);
    int v = co_await by_value([t = std::move(s)] { return t.value(); });
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(capture_by_reference) {
    tracked s(7);
    int v = co_await by_rvalue([&s] { return s.value(); });
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(trivial_capture) {
    int n = 7;
    int v = co_await by_rvalue([n] { return n; });
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(no_capture) {
    int v = co_await by_rvalue([] { return 7; });
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(no_capture_arguments_passed) {
    tracked s(7);
    int v = co_await with_args([](const tracked& t) { return t.value(); }, s);
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(named_closure_moved) {
    tracked s(7);
    auto f = [s] { return s.value(); };
    int v = co_await by_value(std::move(f));
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(named_closure_by_reference) {
    tracked s(7);
    auto f = [s] { return s.value(); };
    int v = co_await by_const_ref(f);
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(task_named_before_await) {
    tracked s(7);
    auto t = by_value([s] { return s.value(); });
    int v = co_await t;
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(coroutine_lambda_called_in_place) {
    tracked s(7);
    int v = co_await [s]() -> task<int> {
        co_await hop();
        co_return s.value();
    }();
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(coroutine_lambda_without_capture) {
    tracked s(7);
    int v = co_await [](tracked t) -> task<int> {
        co_await hop();
        co_return t.value();
    }(s);
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(named_coroutine_lambda) {
    tracked s(7);
    auto f = [s]() -> task<int> {
        co_await hop();
        co_return s.value();
    };
    int v = co_await f();
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(closure_inside_wrapper_temporary) {
    tracked s(7);
    int v = co_await by_value(wrapper([s] { return s.value(); }));
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(closure_inside_awaitable_temporary) {
    tracked s(7);
    int v = co_await wrapper([s] { return s.value(); });
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(closure_inside_awaiter_temporary) {
    tracked s(7);
    int v = co_await immediate([s] { return s.value(); });
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(closure_converted_to_function) {
    tracked s(7);
    int v = co_await erased([s] { return s.value(); });
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(closure_called_beside_await) {
    tracked s(7);
    int v = call_now([s] { return s.value(); }) + co_await number(1);
    PROBE_EXPECT(v == 8);
}
PROBE_CORO(functor_class_temporary) {
    tracked s(7);
    int v = co_await by_value(functor(s));
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(closure_returned_by_function) {
    int v = co_await by_value(closure_maker(tracked(7)));
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(bound_function_object) {
    tracked s(7);
    int v = co_await by_value(std::bind([](const tracked& t) { return t.value(); }, s));
    PROBE_EXPECT(v == 7);
}
