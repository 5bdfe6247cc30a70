#pragma once

// What the constructors of metrics call.

#include <roost/observe/detail/family.hpp>
#include <roost/observe/registry.hpp>

#include <initializer_list>
#include <memory>
#include <string_view>

namespace roost::inline ROOST_ABI::detail {

struct metric_handles {
    [[nodiscard]] static std::shared_ptr<series> only(const metrics::registry& in, std::string_view name,
                                                      std::string_view help, metric_kind kind,
                                                      const metrics::buckets* how = nullptr);
    [[nodiscard]] static std::shared_ptr<family> all(const metrics::registry& in, std::string_view name,
                                                     std::string_view help, metric_kind kind,
                                                     std::initializer_list<metrics::label_name> labels,
                                                     const metrics::buckets* how = nullptr);
};

}  // namespace roost::inline ROOST_ABI::detail
