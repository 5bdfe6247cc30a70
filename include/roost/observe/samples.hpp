#pragma once

// What a collector fills in: numbers that something else keeps, read at each scrape.

#include <roost/observe/detail/forward.hpp>
#include <roost/observe/metric_name.hpp>

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace roost::inline ROOST_ABI::metrics {

// Valid during the call of a collector. Each function throws error(refused) if the name is in use for something else, and
// std::bad_alloc. A metric with the same labels twice is added up. Values of labels may be any bytes (metrics.hpp).
class samples {
public:
    struct label {
        label_name name;
        std::string_view value;
    };

    // The name has to end with _total.
    void counter(metric_name name, std::string_view help, std::uint64_t value, std::initializer_list<label> labels = {});
    void gauge(metric_name name, std::string_view help, double value, std::initializer_list<label> labels = {});

private:
    friend class detail::registry_core;
    explicit samples(detail::scrape& into) noexcept : into_(into) {}
    detail::scrape& into_;
};

}  // namespace roost::inline ROOST_ABI::metrics
