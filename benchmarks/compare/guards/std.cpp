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
} // namespace

BENCH_PEER("shutdown/guard_1t", "std::shared_ptr copy") { return copy_1t(b); }
BENCH_PEER("shutdown/guard_2t", "std::shared_ptr copy") { return copy_2t(b); }
BENCH_PEER("shutdown/guard_untracked_1t", "std::shared_ptr copy") { return copy_1t(b); }
BENCH_PEER("shutdown/guard_untracked_2t", "std::shared_ptr copy") { return copy_2t(b); }
