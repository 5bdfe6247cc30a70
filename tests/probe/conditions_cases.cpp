// ?:, if, switch, loops and logical operators with co_await in or around them.
#define PROBE_GROUP "conditions"
#include "probe.hpp"

using namespace probe;

namespace {

task<int> take(tracked t) {
    co_await hop();
    co_return t;
}
task<int> view(const tracked& t) {
    co_await hop();
    co_return t;
}
task<tracked> choose_awaited(bool c) {
    co_await hop();
    co_return c ? tracked(co_await number(7)) : tracked(0);
}
task<tracked> choose_awaited_spelled_out(bool c) {
    co_await hop();
    if (c) co_return tracked(co_await number(7));
    co_return tracked(0);
}
volatile bool yes = true; // unknown to the optimiser

// No declaration in the body at all: g++ 12.2 is known to stumble over such bodies.
task<void> if_alone(int* hits) {
    if (co_await truth(true)) ++*hits;
}
task<void> while_alone(int* left) {
    while (co_await truth(--*left > 0)) {}
}
task<void> switch_alone(int* hits) {
    switch (co_await number(2)) {
        case 2: ++*hits;
    }
}

} // namespace

PROBE_CORO(ternary_of_awaits) {
    int v = yes ? co_await number(7) : co_await number(0);
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(ternary_of_awaited_objects) {
    tracked t = yes ? co_await make(7) : co_await make(0);
    PROBE_EXPECT(t == 7);
}
PROBE_CORO(ternary_await_or_object) {
    tracked t = yes ? co_await make(7) : tracked(0);
    PROBE_EXPECT(t == 7);
}
PROBE_CORO(ternary_object_or_await) {
    tracked t = yes ? tracked(7) : co_await make(0);
    PROBE_EXPECT(t == 7);
}
PROBE_CORO(ternary_argument) {
    int v = co_await take(yes ? tracked(7) : tracked(0));
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(ternary_argument_by_reference) {
    int v = co_await view(yes ? tracked(7) : tracked(0));
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(ternary_of_lvalues) {
    tracked a(7), b(0);
    int v = co_await view(yes ? a : b);
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(ternary_condition_awaited) {
    tracked t = co_await truth(true) ? tracked(7) : tracked(0);
    PROBE_EXPECT(t == 7);
}
PROBE_CORO(ternary_returned) {
    tracked t = co_await choose_awaited(true);
    PROBE_EXPECT(t == 7);
}
PROBE_CORO(if_else_returned) {
    tracked t = co_await choose_awaited_spelled_out(true);
    PROBE_EXPECT(t == 7);
}
PROBE_CORO(ternary_awaiting_one_task) {
    int v = co_await (yes ? take(tracked(7)) : take(tracked(0)));
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(if_condition) {
    int hits = 0;
    if (co_await truth(true)) ++hits;
    if (co_await make(0)) ++hits;
    PROBE_EXPECT(hits == 1);
}
PROBE_CORO(if_with_initializer) {
    int hits = 0;
    if (tracked t = co_await make(7); t == 7) ++hits;
    if (tracked t = co_await make(7)) hits += t;
    PROBE_EXPECT(hits == 8);
}
PROBE_CASE(if_condition_in_empty_body) {
    int hits = 0;
    auto t = if_alone(&hits);
    PROBE_EXPECT(drive(t));
    PROBE_EXPECT(hits == 1);
}
PROBE_CASE(while_condition_in_empty_body) {
    int left = 3;
    auto t = while_alone(&left);
    PROBE_EXPECT(drive(t));
    PROBE_EXPECT(left == 0);
}
PROBE_CASE(switch_condition_in_empty_body) {
    int hits = 0;
    auto t = switch_alone(&hits);
    PROBE_EXPECT(drive(t));
    PROBE_EXPECT(hits == 1);
}
PROBE_CORO(switch_condition) {
    int hits = 0;
    switch (co_await number(2)) {
        case 1: hits = 100; break;
        case 2: ++hits; break;
        default: hits = 100;
    }
    PROBE_EXPECT(hits == 1);
}
PROBE_CORO(switch_on_member_of_awaited_object) {
    int hits = 0;
    switch ((co_await make(2)).value()) {
        case 2: ++hits; break;
        default: hits = 100;
    }
    PROBE_EXPECT(hits == 1);
}
PROBE_CORO(switch_with_initializer_and_await_in_case) {
    int hits = 0;
    switch (tracked t = co_await make(2); t.value()) {
        case 2: hits = co_await view(t); break;
        default: hits = 100;
    }
    PROBE_EXPECT(hits == 2);
}
PROBE_CORO(while_condition) {
    int rounds = 0;
    while (co_await truth(rounds < 3)) ++rounds;
    PROBE_EXPECT(rounds == 3);
}
PROBE_CORO(while_condition_declares_object) {
    int rounds = 0, sum = 0;
    while (tracked t = co_await make(3 - rounds)) {
        ++rounds;
        sum += co_await view(t);
    }
    PROBE_EXPECT(rounds == 3 && sum == 6);
}
PROBE_CORO(do_while_condition) {
    int rounds = 0;
    do {
        tracked inside(rounds);
        ++rounds;
    } while (co_await truth(rounds < 3));
    PROBE_EXPECT(rounds == 3);
}
PROBE_CORO(for_condition_and_step) {
    int rounds = 0;
    for (int i = co_await number(0); co_await truth(i < 3); i += co_await number(1)) ++rounds;
    PROBE_EXPECT(rounds == 3);
}
PROBE_CORO(loop_left_by_break_and_continue) {
    int rounds = 0;
    for (int i = 0; i < 10; ++i) {
        tracked t = co_await make(i);
        if (t == 1) continue;
        if (t == 4) break;
        rounds += co_await view(t);
    }
    PROBE_EXPECT(rounds == 0 + 2 + 3);
}
PROBE_CORO(logical_and_or) {
    int v = 0;
    bool both = co_await truth(true) && co_await truth(true);
    bool shortened = co_await truth(false) && (++v, co_await truth(true));
    bool either = co_await truth(false) || co_await truth(true);
    PROBE_EXPECT(both && !shortened && either && v == 0);
}
PROBE_CORO(logical_and_with_temporaries) {
    int a = co_await take(tracked(7));
    bool both = a == 7 && (co_await make(7)).value() == 7;
    PROBE_EXPECT(both);
}
PROBE_CORO(comma_operator) {
    int v = (tracked(1).value(), co_await take(tracked(6)), co_await number(7));
    PROBE_EXPECT(v == 7);
}
