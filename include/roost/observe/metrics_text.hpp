#pragma once

// A registry as text: what a scrape answers.
//
//   const auto accept = request.header("Accept");
//   reply(metrics::content_type_for(accept), metrics::to_text(accept));

#include <roost/observe/registry.hpp>

#include <string>
#include <string_view>

namespace roost::inline ROOST_ABI::metrics {

enum class text_format : unsigned char { prometheus, openmetrics };

// Returns the registry in the Prometheus text format, version 0.0.4. Throws std::bad_alloc.
[[nodiscard]] std::string to_prometheus(const registry& from = registry::of_process());
// Returns the registry in OpenMetrics 1.0, with exemplars. Throws std::bad_alloc.
[[nodiscard]] std::string to_openmetrics(const registry& from = registry::of_process());

// Returns what the value of an HTTP Accept header prefers: OpenMetrics if it names that at least as highly as text/plain, else the
// text format. Any bytes may be passed.
[[nodiscard]] text_format format_for(std::string_view accept) noexcept;
[[nodiscard]] std::string_view content_type_for(std::string_view accept) noexcept;
// Returns the registry in that format.
[[nodiscard]] std::string to_text(std::string_view accept, const registry& from = registry::of_process());

}  // namespace roost::inline ROOST_ABI::metrics
