#pragma once

// A registry as text: the reply to a scrape. All functions are thread-safe.
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

// Returns the format for the value of an HTTP Accept header: OpenMetrics if it ranks that at least as high as text/plain, else
// Prometheus. Accepts any bytes.
[[nodiscard]] text_format format_for(std::string_view accept) noexcept;
// Returns the Content-Type of that format.
[[nodiscard]] std::string_view content_type_for(std::string_view accept) noexcept;
// Returns the registry in that format. Throws std::bad_alloc.
[[nodiscard]] std::string to_text(std::string_view accept, const registry& from = registry::of_process());

}  // namespace roost::inline ROOST_ABI::metrics
