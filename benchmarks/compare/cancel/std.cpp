// std::stop_source, stop_token and stop_callback: no tree, callbacks run inside request_stop.
#include "../../harness/harness.hpp"

#include <deque>
#include <stop_token>

namespace {
struct bump {
    std::uint64_t* counter;
    void operator()() const noexcept { ++*counter; }
};
using callback = std::stop_callback<bump>;
} // namespace

BENCH_PEER("tree/is_cancelled", "std::stop_token") {
    std::stop_source source;
    auto const token = source.get_token();
    return bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            bench::keep(token.stop_requested());
            bench::clobber();
        }
    });
}

BENCH_PEER("tree/callback", "std::stop_callback") {
    std::stop_source source;
    auto const token = source.get_token();
    std::uint64_t counter = 0;
    return bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            callback const registered(token, bump{&counter});
            bench::clobber();
        }
    });
}

BENCH_PEER("tree/cancel_callbacks_1k", "std::stop_source") {
    auto const s = bench::measure(b, [](std::uint64_t n) {
        double took = 0;
        std::uint64_t counter = 0;
        for (std::uint64_t i = 0; i < n; ++i) {
            std::stop_source source;
            std::deque<callback> all;
            for (int k = 0; k < 1000; ++k) all.emplace_back(source.get_token(), bump{&counter});
            auto const start = bench::clock::now();
            source.request_stop();
            took += bench::ns_since(start);
        }
        return took;
    });
    return {s.value / 1000, s.ops * 1000};
}
