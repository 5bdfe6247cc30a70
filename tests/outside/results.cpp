// One vocabulary for every kind of answer: operator bool, value(), status(), error(), to_outcome().

#include <roost/roost.hpp>

#include <unistd.h>

#include <cstdio>
#include <stdexcept>
#include <string>

using namespace roost;
using namespace std::chrono_literals;

namespace {

int failures = 0;
void expect(bool holds, const char* what) {
    if (!holds) {
        std::printf("wrong: %s\n", what);
        ++failures;
    }
}

// The same function for all of them.
template <class Answer>
std::string read(Answer&& answer) {
    if (answer) {
        return "value";
    }
    std::string text(to_string(answer.status()));
    if (answer.error()) {
        text += ", " + describe(answer.error());
    }
    return text;
}
template <class Answer>
bool throws(Answer&& answer) {
    try {
        static_cast<void>(std::forward<Answer>(answer).value());
    } catch (const std::exception&) {
        return true;
    }
    return false;
}

task<int> gives(int v) { co_return v; }
task<int> fails() {
    throw std::runtime_error("no route to host");
    co_return 0;
}

task<> answers(mutex& m, channel<int>& orders, broadcast<int>& ticks, pool<int>& numbers) {
    auto value = co_await as_outcome(gives(3));
    expect(read(value) == "value" && value.value() == 3, "outcome with a value");
    auto failed = co_await as_outcome(fails());
    expect(read(failed) == "failed, std::runtime_error: no route to host", "outcome with an error");
    expect(throws(failed), "value() of a failed outcome throws its error");

    expect(read(orders.try_send(1)) == "value", "sent");
    expect(read(orders.try_receive()) == "value", "received");
    auto nothing = orders.try_receive();
    expect(nothing.status() == wait_status::would_wait && throws(nothing), "nothing to receive");
    orders.close();
    auto refused = orders.try_send(2);
    expect(refused.status() == wait_status::closed && throws(refused) && refused.take_back() == 2, "a closed channel");
    expect(std::move(nothing).to_outcome().has_error(), "received as an outcome");

    auto mine = ticks.subscribe();
    ticks.send(5);
    auto tick = mine.try_receive();
    expect(read(tick) == "value" && tick.value() == 5, "broadcast");

    auto held = co_await m.lock();
    auto late = m.lock_blocking(1ms);  // roost-lint: allow(blocking-call)
    expect(!late, "a lock that is taken, with a duration");
    std::stop_source stop;
    stop.request_stop();
    auto stopped = co_await with_stop(m.lock(), stop.get_token());
    expect(stopped.status() == wait_status::cancelled && !stopped.error(), "an interrupted wait has no error");
    expect(std::move(stopped).to_outcome().is_cancelled(), "an interrupted wait as an outcome");

    auto one = co_await numbers.acquire();
    expect(read(one) == "value" && *one == 7, "acquired");
    auto none = numbers.try_acquire();
    expect(none.status() == wait_status::empty && none.status() == wait_status::would_wait, "one set of words");
    expect(throws(std::move(none)), "value() of nothing throws");
    outcome<pooled<int>> as_outcome_of_pool = std::move(one).to_outcome();
    expect(as_outcome_of_pool.has_value(), "acquired as an outcome");
}

}  // namespace

int main() {
    alarm(60);
    mutex m("m");
    channel<int> orders(1, "orders");
    broadcast<int> ticks(1, "ticks");
    pool<int> numbers(pool_options(1, "numbers"), [] { return 7; });
    run(answers(m, orders, ticks, numbers));
    if (failures == 0) {
        std::printf("every answer was read with the same words\n");
    }
    return failures == 0 ? 0 : 1;
}
