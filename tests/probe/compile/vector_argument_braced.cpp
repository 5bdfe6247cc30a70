// A vector built from braces inside the co_await expression.
#define PROBE_GROUP "compile"
#include "../probe.hpp"

#include <vector>

using namespace probe;

static task<int> sum(std::vector<tracked> list) {
    co_await hop();
    int total = 0;
    for (const auto& t : list) total += t;
    co_return total;
}

PROBE_CORO(vector_argument_braced) {
    int v = co_await sum({tracked(3), tracked(4)});
    PROBE_EXPECT(v == 7);
}
