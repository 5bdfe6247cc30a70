// Three million awaits that complete at once, and a hundred thousand that nest, at whatever level of optimisation.
#include <roost/roost.hpp>

#include <unistd.h>
#include <cstdio>

using namespace roost;
using namespace std::chrono_literals;

namespace {

task<int> one(int i) { co_return i; }
task<long> many(int count) {
    long sum = 0;
    for (int i = 0; i < count; ++i) {
        sum += co_await one(1);
    }
    co_return sum;
}
task<int> nested(int left) {
    if (left == 0) {
        co_return 0;
    }
    const int below = co_await nested(left - 1);
    co_return below + 1;
}
task<int> in_scope(scope&, int left);
task<int> scopes(int left) {
    if (left == 0) {
        co_return 0;
    }
    co_return co_await with_scope(in_scope, left);
}
task<int> in_scope(scope&, int left) {
    const int below = co_await scopes(left - 1);
    co_return below + 1;
}
task<int> limits(int left) {
    if (left == 0) {
        co_return 0;
    }
    const int below = co_await fail_after(1h, limits(left - 1));
    co_return below + 1;
}
task<long> kinds(int count) {
    long sum = 0;
    for (int i = 0; i < count; ++i) {
        sum += co_await with_scope(in_scope, 1);
        sum += co_await fail_after(1h, one(1));
        const outcome<int> got = co_await as_outcome(one(1));
        sum += got.value();
    }
    co_return sum;
}
task<int> all() {
    const long flat = co_await many(3'000'000);
    const int deep = co_await nested(100'000);
    const int opened = co_await scopes(20'000);
    const int limited = co_await limits(2'000);
    const long mixed = co_await kinds(100'000);
    const bool right = flat == 3'000'000 && deep == 100'000 && opened == 20'000 && limited == 2'000 && mixed == 300'000;
    if (!right) {
        std::printf("%ld %d %d %d %ld\n", flat, deep, opened, limited, mixed);
    }
    co_return right ? 0 : 1;
}

}  // namespace

int main() {
    alarm(60);
    return run(all());
}
