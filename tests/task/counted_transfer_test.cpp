// The transfer that g++ is given when it optimises, compiled as if it made no tail call at all: the stack stays small.
#define ROOST_SYMMETRIC_TRANSFER 1

#include <roost/task/as_outcome.hpp>
#include <roost/task/detail/frame/transfer.hpp>
#include <roost/task/generator.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/timeout.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <cstdint>

using namespace roost;
using namespace std::chrono_literals;

namespace {

// How deep the stack has been.
class depth {
public:
    // Not inlined: an object in a coroutine may be in its frame.
    [[gnu::noinline]] void look() noexcept {
        const auto at = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
        lowest_ = at < lowest_ ? at : lowest_;
        highest_ = at > highest_ ? at : highest_;
    }
    [[nodiscard]] std::uintptr_t bytes() const noexcept { return highest_ - lowest_; }

private:
    std::uintptr_t lowest_ = ~std::uintptr_t(0);
    std::uintptr_t highest_ = 0;
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || ROOST_ASAN
constexpr int rounds = 5'000;
#else
constexpr int rounds = 50'000;
#endif
constexpr std::uintptr_t enough = 256 * 1024;

task<int> one(depth& d) {
    d.look();
    co_return 1;
}
task<int> in_scope(scope&, depth& d) { co_return co_await one(d); }
generator<int> count(depth& d) {
    for (int i = 0;; ++i) {
        d.look();
        co_yield i;
    }
}
task<> flat(depth& d, long& sum) {
    generator<int> numbers = count(d);
    for (int i = 0; i < rounds; ++i) {
        sum += co_await one(d);
        sum += co_await with_scope(in_scope, std::ref(d));
        sum += co_await fail_after(1h, one(d));
        const outcome<int> got = co_await as_outcome(one(d));
        sum += got.value();
        static_cast<void>(co_await numbers.next());
    }
}

TEST(counted_transfer, TASK_125_awaits_that_complete_at_once_do_not_grow_the_stack) {
    rig::stage s;
    depth d;
    long sum = 0;
    s.play(flat(d, sum));
    EXPECT_EQ(sum, 4L * rounds);
    EXPECT_LT(d.bytes(), enough);
}

task<int> nested(depth& d, int left) {
    d.look();
    if (left == 0) {
        co_return 0;
    }
    const int below = co_await nested(d, left - 1);
    d.look();
    co_return below + 1;
}
task<int> nested_in(scope&, depth& d, int left);
task<int> nested_scopes(depth& d, int left) {
    d.look();
    if (left == 0) {
        co_return 0;
    }
    co_return co_await with_scope(nested_in, std::ref(d), left);
}
task<int> nested_in(scope&, depth& d, int left) {
    const int below = co_await nested_scopes(d, left - 1);
    d.look();
    co_return below + 1;
}
task<> deep(depth& d, long& sum) {
    sum += co_await nested(d, rounds);
    sum += co_await nested_scopes(d, rounds / 10);
}

TEST(counted_transfer, TASK_125_nor_do_awaits_that_nest) {
    rig::stage s;
    depth d;
    long sum = 0;
    s.play(deep(d, sum));
    EXPECT_EQ(sum, rounds + rounds / 10);
    EXPECT_LT(d.bytes(), enough);
}

}  // namespace
