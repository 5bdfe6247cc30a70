#pragma once

// The result of one scrape: plain values, which the writers turn into text.

#include <roost/observe/detail/family.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace roost::inline ROOST_ABI::detail {

struct exported_histogram {
    std::vector<double> bounds;
    std::vector<std::uint64_t> up_to;  // how many values are at most the bound; cumulative
    std::uint64_t count = 0;
    double sum = 0;
    std::vector<kept_exemplar> exemplars;  // empty, or one per bound and one above
};

struct exported {
    std::vector<std::string> values;  // of the labels, valid UTF-8
    double value = 0;  // of a gauge
    std::uint64_t whole = 0;  // of a counter
    std::optional<exported_histogram> histogram;
    kept_exemplar last;  // of a counter
};

struct exported_family {
    std::string name;
    std::string help;
    metric_kind kind;
    std::vector<std::string> labels;
    std::vector<exported> series;
};

class scrape {
public:
    // Returns the family with this definition, which is empty if it is new. Throws error(refused) if one of that name is defined
    // otherwise.
    exported_family& family_of(std::string_view name, std::string_view help, metric_kind kind,
                               std::span<const std::string_view> labels);
    // Returns the series with these values; the first 200 of a family are kept apart, further ones share one called `other`.
    exported& series_of(exported_family& in, std::span<const std::string_view> values);

    std::vector<exported_family> families;
};

[[nodiscard]] exported_histogram export_histogram(const distribution& all, const std::vector<double>& bounds,
                                                  double resolution);

[[nodiscard]] std::string write_prometheus(const scrape& of);
[[nodiscard]] std::string write_openmetrics(const scrape& of);

}  // namespace roost::inline ROOST_ABI::detail
