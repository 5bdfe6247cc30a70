#pragma once

// The trace that an observation belongs to: OpenMetrics shows one beside a counter or a bucket of a histogram.

#include <roost/base/config.hpp>

#include <string_view>

namespace roost::inline ROOST_ABI::metrics {

// Refers to texts of the caller. A metric copies at most 64 bytes of the trace id and 32 bytes of the span id.
class exemplar {
public:
    constexpr explicit exemplar(std::string_view trace_id, std::string_view span_id = {}) noexcept
        : trace_id_(trace_id), span_id_(span_id) {}
    [[nodiscard]] constexpr std::string_view trace_id() const noexcept { return trace_id_; }
    [[nodiscard]] constexpr std::string_view span_id() const noexcept { return span_id_; }

private:
    std::string_view trace_id_;
    std::string_view span_id_;
};

}  // namespace roost::inline ROOST_ABI::metrics
