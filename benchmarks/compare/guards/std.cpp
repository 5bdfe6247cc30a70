// What people use to count work in flight without a library: a shared_ptr copy per operation.
#include "../../harness/harness.hpp"

#include <memory>

namespace {
bench::sample copy_1t(bench::budget b) {
    auto const owner = std::make_shared<int>(1);
    return bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            auto const guard = owner;
            bench::keep(guard.get());
        }
    });
}

bench::sample copy_2t(bench::budget b) {
    static auto const owner = std::make_shared<int>(1);
    return bench::per_op_threads(b, 2, [](unsigned, std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            auto const guard = owner;
            bench::keep(guard.get());
        }
    });
}

// Copies of two different owners, on cache lines of their own.
struct alignas(128) apart {
    int value = 1;
};
bench::sample copy_siblings_2t(bench::budget b) {
    static std::shared_ptr<apart> const each[] = {std::make_shared<apart>(), std::make_shared<apart>()};
    return bench::per_op_threads(b, 2, [](unsigned me, std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            auto const guard = each[me];
            bench::keep(guard.get());
        }
    });
}

bench::sample copy_among(bench::budget b, std::size_t live) {
    auto const owner = std::make_shared<int>(1);
    std::vector<std::shared_ptr<int>> const held(live, owner);
    return bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            auto const guard = owner;
            bench::keep(guard.get());
        }
    });
}
} // namespace

BENCH_PEER("shutdown/guard_1t", "std::shared_ptr copy") { return copy_1t(b); }
BENCH_PEER("shutdown/guard_2t", "std::shared_ptr copy") { return copy_2t(b); }
BENCH_PEER("shutdown/guard_untracked_1t", "std::shared_ptr copy") { return copy_1t(b); }
BENCH_PEER("shutdown/guard_untracked_2t", "std::shared_ptr copy") { return copy_2t(b); }
BENCH_PEER("shutdown/guard_siblings_2t", "std::shared_ptr copy") { return copy_siblings_2t(b); }
BENCH_PEER("scale/guards_1k", "std::shared_ptr copy") { return copy_among(b, 1'000); }
BENCH_PEER("scale/guards_100k", "std::shared_ptr copy") { return copy_among(b, 100'000); }
BENCH_PEER("scale/guards_1m", "std::shared_ptr copy") { return copy_among(b, 1'000'000); }
