// Whatever a task can await can be launched, timed, raced, shielded and nested, without a wrapper coroutine of the user's own.
#include <roost/roost.hpp>

#include <coroutine>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

using namespace roost;
using namespace std::chrono_literals;

namespace {

int wrong = 0;
void expect(bool right, const char* what) {
    if (!right) {
        std::printf("wrong: %s\n", what);
        ++wrong;
    }
}

task<int> after(duration d, int value) {
    co_await sleep_for(d);
    co_return value;
}
task<int> inner(scope& s, int value) {
    auto child = s.async("child", after(1ms, value));
    co_return co_await std::move(child);
}
task<int> fail() {
    co_await sleep_for(1ms);
    throw std::runtime_error("planned");
}

// A user's own awaitable, which knows nothing of Roost.
struct ready_made {
    [[nodiscard]] bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    [[nodiscard]] int await_resume() const noexcept { return 7; }
};

task<> timed(scope& s) {
    expect(co_await fail_after(10s, with_scope(inner, 1)) == 1, "fail_after of a scope");
    auto d = s.async("d", after(1ms, 2));
    expect(co_await fail_after(10s, std::move(d)) == 2, "fail_after of a deferred");
    event never("never");
    expect(!co_await move_on_after(1ms, never.wait()), "move_on_after of a wait");
    mutex m;
    auto held = co_await move_on_after(10s, m.lock());
    expect(held.has_value(), "move_on_after of a lock");
    expect(co_await fail_after(10s, fail_after(10s, after(1ms, 3))) == 3, "a timeout of a timeout");
    expect(co_await shield(10s, with_scope(inner, 4)) == 4, "a shield around a scope");
    const auto failed = co_await as_outcome(fail_after(10s, fail()));
    expect(failed.has_error(), "the outcome of a timeout");
    expect(co_await fail_after(10s, blocking([] { return 13; })) == 13, "fail_after of blocking work");
    expect(co_await fail_after(10s, ready_made()) == 7, "fail_after of a foreign awaitable");
}

task<> raced(scope& s) {
    event never("never");
    auto one = co_await race(never.wait(), after(1ms, 5));
    expect(one.index() == 1, "a wait against a task");
    auto a = s.async("a", after(10s, 6));
    auto b = s.async("b", after(1ms, 7));
    auto two = co_await race(std::move(a), std::move(b));
    expect(two.index() == 1 && two.value() == 7, "two deferreds");
    auto [x, y] = co_await when_all(fail_after(10s, after(1ms, 8)), with_scope(inner, 9));
    expect(x == 8 && y == 9, "when_all of a timeout and a scope");
    std::vector<deferred<int>> many;
    for (int i = 0; i < 5; ++i) {
        many.push_back(s.async("many", after(1ms, i)));
    }
    const auto all = co_await when_all(std::move(many));
    expect(all.size() == 5 && all[4] == 4, "when_all of a vector of deferreds");
    auto won = co_await first_success(fail_after(10s, fail()), after(1ms, 10), never.wait());
    expect(won.index() == 1, "first_success of three kinds");
}

task<> launched(scope& s) {
    auto d = s.async("timed", move_on_after(10s, after(1ms, 11)));
    const std::optional<int> value = co_await std::move(d);
    expect(value == 11, "async of a timeout");
    job j = s.launch("scope", with_scope(inner, 12));
    co_await j.join();
    expect(j.state() == job_state::completed, "launch of a scope");
    int calls = 0;
    const int got = co_await retry(backoff(1ms), 3, [&calls] { return fail_after(10s, after(1ms, ++calls)); });
    expect(got == 1, "retry of a timeout");
    const std::vector<int> numbers{1, 2, 3};
    const auto doubled = co_await map_concurrent(numbers, 2, [](int n) { return fail_after(10s, after(1ms, 2 * n)); });
    expect(doubled.size() == 3 && doubled[2] == 6, "map_concurrent of timeouts");
}

task<> all(scope& s) {
    co_await timed(s);
    co_await raced(s);
    co_await launched(s);
}

}  // namespace

int main() {
    run(with_scope(all));
    return wrong == 0 ? 0 : 1;
}
