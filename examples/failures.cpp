// Where the failure or the cancel of a child arrives: at with_scope, at the await, or as data.

#include <roost/roost.hpp>

#include <cstdio>
#include <stdexcept>

using namespace roost;
using namespace std::chrono_literals;

namespace {

task<int> load_price() {
    co_await sleep_for(1ms);
    throw std::runtime_error("no price");
}
task<int> load_stock() {
    co_await sleep_for(1ms);
    co_return 3;
}
task<int> load_history() {
    co_await sleep_for(1h);
    co_return 100;
}

// begin body
task<int> load_all(scope& s) {
    auto price = s.async("price", load_price());  // fails
    auto stock = s.async("stock", load_stock());
    const int sum = co_await std::move(price);  // does not resume: the failure cancels this body
    co_return sum + co_await std::move(stock);
}

task<int> load_what_works(scope& s) {
    auto price = s.async("price", as_outcome(load_price()));  // the failure is the value of the child
    auto history = s.async("history", load_history());
    history.cancel();
    const auto got = co_await std::move(price);
    const auto old = co_await as_outcome(std::move(history));  // without as_outcome, this body would end cancelled
    co_return (got.has_error() ? 0 : got.value()) + (old.is_cancelled() ? 0 : old.value());
}

task<int> serve() {
    bool failed = false;
    try {
        std::printf("all: %d\n", co_await with_scope(load_all));
    } catch (const std::runtime_error& e) {  // around with_scope: the child's error, with its own type
        std::printf("all: %s\n", e.what());
        failed = true;
    }
    const int rest = co_await with_scope(load_what_works);
    std::printf("what works: %d\n", rest);
    co_return failed&& rest == 0 ? 0 : 1;
}
// end body

}  // namespace

int main() { return run(serve()); }
