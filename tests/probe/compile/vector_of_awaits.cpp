// A vector whose elements are awaited inside its braces.
#define PROBE_GROUP "compile"
#include "../probe.hpp"

#include <vector>

using namespace probe;

PROBE_CORO(vector_of_awaits) {
    std::vector<tracked> list{co_await make(3), co_await make(4)};
    PROBE_EXPECT(list[0] + list[1] == 7);
}
