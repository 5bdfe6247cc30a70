// The first program of a new user: two jobs under one deadline, everything named, with the umbrella header and both namespaces.
#include <roost/roost.hpp>

#include <cstdio>
#include <string>

using namespace std;
using namespace roost;
using namespace std::chrono_literals;

task<string> fetch(string what, duration takes) {
    co_await sleep_for(takes);
    co_return what;
}

task<string> both(scope& s) {
    auto one = s.async("one", fetch("a", 2ms));
    auto two = s.async("two", fetch("b", 1ms));
    string text = co_await std::move(one);
    text += co_await std::move(two);
    co_return text;
}

task<string> page() { co_return co_await with_scope(both); }

task<int> serve() {
    const auto text = co_await move_on_after(10s, page());
    const bool right = text && *text == "ab";
    if (!right) std::printf("wrong: %s\n", text ? text->c_str() : "nothing");
    co_return right ? 0 : 1;
}

int main() { return run(serve()); }
