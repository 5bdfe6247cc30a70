// Boost.Asio 1.81: one handler per slot, not synchronised; there is no one-to-many cancel.
#include "../../harness/harness.hpp"

#include <boost/asio/cancellation_signal.hpp>

#include <deque>

namespace asio = boost::asio;

BENCH_PEER("tree/callback", "Asio cancellation_slot") {
    asio::cancellation_signal signal;
    std::uint64_t counter = 0;
    return bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            signal.slot().assign([&counter](asio::cancellation_type) { ++counter; });
            bench::clobber();
            signal.slot().clear();
        }
    });
}

BENCH_PEER("tree/cancel_callbacks_1k", "Asio cancellation_signal, a thousand of them") {
    auto const s = bench::measure(b, [](std::uint64_t n) {
        double took = 0;
        std::uint64_t counter = 0;
        for (std::uint64_t i = 0; i < n; ++i) {
            std::deque<asio::cancellation_signal> all(1000);
            for (auto& signal : all) signal.slot().assign([&counter](asio::cancellation_type) { ++counter; });
            auto const start = bench::clock::now();
            for (auto& signal : all) signal.emit(asio::cancellation_type::terminal);
            took += bench::ns_since(start);
        }
        return took;
    });
    return {s.value / 1000, s.ops * 1000};
}
