// Deadlines: an error, or an answer without a value; and the work has stopped when they are told.

#include <roost/roost.hpp>

#include <cstdio>
#include <string>

using namespace roost;
using namespace std::chrono_literals;

namespace {

task<std::string> ask(const char* who, duration takes) {
    co_await sleep_for(takes);
    co_return std::string("answer of ") + who;
}

// begin body
// An answer that comes too late is replaced by a default.
task<std::string> ask_with_default(const char* who, duration takes) {
    auto answer = co_await move_on_after(500ms, ask(who, takes));
    co_return answer ? *answer : std::string("no answer from ") + who;
}

// An answer that has to come: its absence is an error with a type of its own.
task<bool> insist(const char* who, duration takes) {
    try {
        const std::string answer = co_await fail_after(500ms, ask(who, takes));
        std::printf("%s\n", answer.c_str());
        co_return true;
    } catch (const timed_out& e) {
        std::printf("%s\n", e.what());
        co_return false;
    }
}
// end body

task<int> ask_around() {
    const std::string quick = co_await ask_with_default("Ada", 0ms);
    const std::string slow = co_await ask_with_default("Ben", 1h);
    std::printf("%s, %s\n", quick.c_str(), slow.c_str());
    const bool in_time = co_await insist("Cleo", 1h);
    co_return quick == "answer of Ada" && slow == "no answer from Ben" && !in_time ? 0 : 1;
}

}  // namespace

int main() { return run(ask_around()); }
