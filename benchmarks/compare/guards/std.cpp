// What people use to count work in flight without a library: a shared_ptr copy per operation.
#include "../../harness/harness.hpp"

#include <memory>

BENCH_PEER("shutdown/guard_1t", "std::shared_ptr copy") {
    auto const owner = std::make_shared<int>(1);
    return bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            auto const guard = owner;
            bench::keep(guard.get());
        }
    });
}

BENCH_PEER("shutdown/guard_2t", "std::shared_ptr copy") {
    static auto const owner = std::make_shared<int>(1);
    return bench::per_op_threads(b, 2, [](unsigned, std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            auto const guard = owner;
            bench::keep(guard.get());
        }
    });
}
