#pragma once

// What a collector fills in: numbers of other code, read at each scrape.

#include <roost/observe/detail/forward.hpp>
#include <roost/observe/metric_name.hpp>

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace roost::inline ROOST_ABI::metrics {

// Valid during one call of a collector's function, for its thread. Each function throws error(refused) if the name is taken
// by another definition, and std::bad_alloc. Equal labels of one metric are added up. Label values may be any bytes
// (metrics.hpp).
class samples {
public:
    struct label {
        label_name name;
        std::string_view value;
    };

    // Adds a counter. Throws error(refused) if the name does not end with _total.
    void counter(metric_name name, std::string_view help, std::uint64_t value, std::initializer_list<label> labels = {});
    // Adds a gauge. Throws error(refused) if the name ends with _total.
    void gauge(metric_name name, std::string_view help, double value, std::initializer_list<label> labels = {});

private:
    friend class detail::registry_core;
    explicit samples(detail::scrape& into) noexcept : into_(into) {}
    detail::scrape& into_;
};

}  // namespace roost::inline ROOST_ABI::metrics
