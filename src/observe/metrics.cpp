#include <roost/observe/metrics.hpp>

#include <roost/observe/detail/registry_core.hpp>

namespace roost::inline ROOST_ABI::detail {

std::shared_ptr<series> metric_handles::only(const metrics::registry& in, std::string_view name, std::string_view help,
                                             metric_kind kind, const metrics::buckets* how) {
    return metrics_access::define(in, name, help, kind, {}, how)->only();
}

std::shared_ptr<family> metric_handles::all(const metrics::registry& in, std::string_view name, std::string_view help,
                                            metric_kind kind, std::initializer_list<metrics::label_name> labels,
                                            const metrics::buckets* how) {
    return metrics_access::define(in, name, help, kind, {labels.begin(), labels.size()}, how);
}

}  // namespace roost::inline ROOST_ABI::detail
