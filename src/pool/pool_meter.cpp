// Orders P1 and P2: pool/detail/pool_meter.hpp.

#include <roost/pool/detail/pool_meter.hpp>

#include <roost/pool/detail/pool_core.hpp>

#include <memory>

namespace roost::inline ROOST_ABI::detail {

void pool_meter::waited(std::int64_t began) noexcept {
    if (began == 0) {
        return;
    }
    const std::int64_t took = now().time_since_epoch().count() - began;
    if (fine_histogram* all = waits_.load(mo::seq_cst)) {  // P1
        all->record(took > 0 ? static_cast<std::uint64_t>(took) : 0);
    }
}

void pool_meter::read(metric_sink& to) {
    const metric_label pool{"pool", of_.name()};
    const pool_stats now = of_.stats();
    to.gauge("roost_pool_capacity", "Most resources of a pool.", now.capacity, {pool});
    to.gauge("roost_pool_live", "Resources of a pool that exist: idle, out or busy.", double(now.idle) + now.out + now.busy,
             {pool});
    to.gauge("roost_pool_idle", "Resources of a pool that wait for an acquire.", now.idle, {pool});
    to.gauge("roost_pool_out", "Resources of a pool that are held.", now.out, {pool});
    to.gauge("roost_pool_waiting", "Acquires that wait for a resource.", now.waiting, {pool});
    to.counter("roost_pool_created_total", "Resources that were created.", now.created, {pool});
    to.counter("roost_pool_create_failures_total", "Creations that failed.", now.create_failures, {pool});
    read_waits(to, pool);
}

void pool_meter::read_waits(metric_sink& to, metric_label pool) {
    fine_histogram* all = waits_.load(mo::seq_cst);  // P1
    if (all == nullptr && measuring::is_on()) {
        auto made = std::make_unique<fine_histogram>(1);
        if (waits_.compare_exchange_strong(all, made.get(), mo::seq_cst, mo::seq_cst)) {  // P2
            all = made.release();
        }
    }
    if (all != nullptr) {
        to.times("roost_pool_wait_seconds", "How long acquires waited that had to wait.", all->read(), {pool});
    }
}

}  // namespace roost::inline ROOST_ABI::detail
