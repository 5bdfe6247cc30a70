// Boost.Asio 1.81: one handler per slot, not synchronised; there is no one-to-many cancel.
#include "../../harness/harness.hpp"

#include <boost/asio/cancellation_signal.hpp>

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
