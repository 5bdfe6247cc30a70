// Structured bindings, range-for, generators, statics, volatile and other declarations around co_await.
#define PROBE_GROUP "bindings"
#include "probe.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

using namespace probe;

namespace {

struct two {
    tracked first, second;
    two(int a, int b) : first(a), second(b) {}
};
task<std::pair<tracked, tracked>> make_pair() {
    co_await hop();
    co_return std::pair<tracked, tracked>(3, 4);
}
task<std::tuple<int, std::string>> make_tuple() {
    co_await hop();
    co_return std::tuple(7, std::string(50, 'x'));
}
task<two> make_struct() {
    co_await hop();
    co_return two(3, 4);
}
task<std::vector<tracked>> make_list(int n) {
    co_await hop();
    std::vector<tracked> list;
    for (int i = 1; i <= n; ++i) list.emplace_back(i);
    co_return list;
}
task<int> view(const tracked& t) {
    co_await hop();
    co_return t;
}
task<tracked&> reference_to(tracked& t) {
    co_await hop();
    co_return t;
}
task<std::unique_ptr<tracked>> make_unique(int n) {
    co_await hop();
    co_return std::make_unique<tracked>(n);
}
task<std::optional<tracked>> make_optional(int n) {
    co_await hop();
    co_return tracked(n);
}

class generator {
public:
    class promise_type {
    public:
        generator get_return_object() noexcept {
            return generator(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        std::suspend_always final_suspend() const noexcept { return {}; }
        std::suspend_always yield_value(const tracked& t) noexcept { return current = &t, std::suspend_always(); }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
        const tracked* current = nullptr;
    };
    explicit generator(std::coroutine_handle<promise_type> h) noexcept : handle_(h) {}
    generator(generator&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    ~generator() {
        if (handle_) handle_.destroy();
    }
    const tracked* next() {
        handle_.resume();
        return handle_.done() ? nullptr : handle_.promise().current;
    }

private:
    std::coroutine_handle<promise_type> handle_;
};
generator count_to(int n) {
    tracked local(0);
    for (int i = 1; i <= n; ++i) co_yield tracked(i);
    co_yield local;
}

} // namespace

PROBE_CORO(binding_of_pair) {
    auto [a, b] = co_await make_pair();
    co_await hop();
    PROBE_EXPECT(a + b == 7);
}
PROBE_CORO(binding_of_tuple) {
    auto [n, s] = co_await make_tuple();
    co_await hop();
    PROBE_EXPECT(n == 7 && s.size() == 50);
}
PROBE_CORO(binding_of_struct_by_reference) {
    auto&& [a, b] = co_await make_struct();
    co_await hop();
    PROBE_EXPECT(a + b == 7);
}
PROBE_CORO(binding_passed_to_await) {
    const auto& [a, b] = co_await make_pair();
    int v = co_await view(a);
    int w = co_await view(b);
    PROBE_EXPECT(v + w == 7);
}
PROBE_CORO(range_for_over_awaited) {
    int sum = 0;
    for (const auto& t : co_await make_list(3)) sum += t;
    PROBE_EXPECT(sum == 6);
}
PROBE_CORO(range_for_over_awaited_with_await_inside) {
    int sum = 0;
    for (tracked t : co_await make_list(3)) {
        sum += co_await view(t);
        if (sum > 2) break;
    }
    PROBE_EXPECT(sum == 3);
}
PROBE_CORO(range_for_over_map_with_bindings) {
    std::map<int, tracked> m;
    m.emplace(1, 3), m.emplace(2, 4);
    int sum = 0;
    for (auto& [k, v] : m) sum += co_await view(v);
    PROBE_EXPECT(sum == 7);
}
PROBE_CORO(range_for_with_initializer) {
    int sum = 0;
    for (auto list = co_await make_list(3); const tracked& t : list) sum += co_await view(t);
    PROBE_EXPECT(sum == 6);
}
PROBE_CORO(awaited_reference_is_the_object) {
    tracked t(7);
    tracked& r = co_await reference_to(t);
    PROBE_EXPECT(&r == &t);
}
PROBE_CORO(awaited_unique_ptr_dereferenced) {
    int v = (*co_await make_unique(7)).value();
    int w = (co_await make_unique(7))->value();
    PROBE_EXPECT(v == 7 && w == 7);
}
PROBE_CORO(awaited_optional_used_in_place) {
    int v = (co_await make_optional(7)).value().value();
    auto o = co_await make_optional(7);
    PROBE_EXPECT(v == 7 && o && *o == 7);
}
PROBE_CORO(conversion_on_initialization) {
    std::optional<tracked> o = co_await make(7);
    std::unique_ptr<const tracked> p = co_await make_unique(7);
    long n = co_await make(7);
    PROBE_EXPECT(*o == 7 && *p == 7 && n == 7);
}
PROBE_CORO(static_local_initialised_before_await) {
    static tracked* shared = new tracked(7);
    co_await hop();
    PROBE_EXPECT(*shared == 7);
    delete shared;
}
PROBE_CORO(over_aligned_local) {
    struct alignas(64) wide {
        tracked t{7};
    };
    // Frames of this alignment come from the promise's allocator, so only use, not alignment, is checked.
    std::unique_ptr<wide> w(new wide);
    co_await hop();
    PROBE_EXPECT(w->t == 7 && reinterpret_cast<std::size_t>(w.get()) % 64 == 0);
}
PROBE_CORO(locals_destroyed_in_reverse_order) {
    static int order[2], next;
    struct marker {
        int id;
        explicit marker(int i) : id(i) {}
        ~marker() { order[next++] = id; }
    };
    {
        marker a(1);
        co_await hop();
        marker b(2);
        co_await hop();
    }
    PROBE_EXPECT(order[0] == 2 && order[1] == 1);
}
PROBE_CORO(early_return_with_locals) {
    auto f = [](int n) -> task<int> {
        tracked a(n);
        if (n == 1) co_return a;
        tracked b = co_await make(n);
        if (n == 2) co_return b;
        co_return co_await view(tracked(a + b));
    };
    int a = co_await f(1);
    int b = co_await f(2);
    int c = co_await f(3);
    PROBE_EXPECT(a == 1 && b == 2 && c == 6);
}
PROBE_CASE(generator_run_to_end) {
    generator g = count_to(3);
    int sum = 0;
    while (const tracked* t = g.next()) sum += *t;
    PROBE_EXPECT(sum == 6);
}
PROBE_CASE(generator_dropped_in_the_middle) {
    generator g = count_to(3);
    PROBE_EXPECT(*g.next() == 1 && *g.next() == 2);
}
PROBE_CASE(temporary_yielded_dies_after_resume) {
    generator g = count_to(2);
    const tracked* t = g.next();
    PROBE_EXPECT(*t == 1);
    PROBE_EXPECT(seen.built - seen.destroyed == 2);
}
