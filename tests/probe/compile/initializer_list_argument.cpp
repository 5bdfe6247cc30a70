// g++ 12.2 refuses this with "array used as initializer"; a program of its own, so that the other cases still build.
#define PROBE_GROUP "compile"
#include "../probe.hpp"

#include <initializer_list>

using namespace probe;

static task<int> sum(std::initializer_list<tracked> list) {
    co_await hop();
    int total = 0;
    for (const auto& t : list) total += t;
    co_return total;
}

PROBE_CORO(initializer_list_argument) {
    int v = co_await sum({tracked(3), tracked(4)});
    PROBE_EXPECT(v == 7);
}
