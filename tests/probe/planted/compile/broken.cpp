// Does not compile on purpose: a refusal is a verdict.
#define PROBE_GROUP "compile"
#include "probe.hpp"

PROBE_CORO(broken) { co_await 7; }
