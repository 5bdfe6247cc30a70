#pragma once

// The metrics of a pool: its numbers, and how long its acquires waited.
//
// id  operation       order    pairs  carries                                 fails in
// P1  waits: load     seq_cst  P2     the histogram                           (no model: written once)
// P2  waits: store    seq_cst  P1     the histogram                           (no model: by one scrape at a time, see read())

#include <roost/base/atomic.hpp>
#include <roost/base/detail/measuring.hpp>
#include <roost/base/detail/metric_source.hpp>

#include <cstdint>

namespace roost::inline ROOST_ABI::detail {

class pool_core;

class pool_meter final : public metric_source {
public:
    explicit pool_meter(pool_core& of) noexcept : of_(of) {}
    ~pool_meter() { delete waits_.load(mo::seq_cst); }  // P1

    // Returns the time of a wait that begins now, for waited(). Returns 0 if measuring is off.
    [[nodiscard]] static std::int64_t begin_wait() noexcept {
        return measuring::is_on() ? now().time_since_epoch().count() : 0;
    }
    void waited(std::int64_t began) noexcept;

private:
    void read(metric_sink& to) override;
    void read_waits(metric_sink& to, metric_label pool);

    pool_core& of_;
    atomic<fine_histogram*> waits_{nullptr};  // made by the first scrape while measuring is on
};

}  // namespace roost::inline ROOST_ABI::detail
