#include <roost/observe/detail/scrape.hpp>

#include <roost/base/error.hpp>
#include <roost/observe/samples.hpp>

#include <algorithm>
#include <array>

namespace roost::inline ROOST_ABI {

namespace detail {

exported_family& scrape::family_of(std::string_view name, std::string_view help, metric_kind kind,
                                   std::span<const std::string_view> labels) {
    const auto known = std::ranges::find(families, name, &exported_family::name);
    if (known != families.end()) {
        if (known->kind != kind || !std::ranges::equal(known->labels, labels)) {
            throw error(errc::refused,
                        "metric '" + std::string(name) + "' is collected with another type or other labels too");
        }
        return *known;
    }
    exported_family made{std::string(name), {}, kind, std::vector<std::string>(labels.begin(), labels.end()), {}};
    append_clean(made.help, help, 1000);
    metric_definition{made.name, {}, kind, made.labels, {}, 0}.require_valid();
    return families.emplace_back(std::move(made));
}

exported& scrape::series_of(exported_family& in, std::span<const std::string_view> values) {
    std::vector<std::string> clean;
    for (const std::string_view value : values) {
        append_clean(clean.emplace_back(), value, family::longest_value);
    }
    const auto find = [&] { return std::ranges::find(in.series, clean, &exported::values); };
    auto known = find();
    if (known == in.series.end() && in.series.size() >= family::most_series && !clean.empty()) {
        std::ranges::fill(clean, "other");
        known = find();
    }
    if (known != in.series.end()) {
        return *known;
    }
    exported made;
    made.values = std::move(clean);
    return in.series.emplace_back(std::move(made));
}

exported_histogram export_histogram(const distribution& all, const std::vector<double>& bounds, double resolution) {
    exported_histogram made;
    made.bounds = bounds;
    made.count = all.count();
    made.sum = static_cast<double>(all.sum()) * resolution;
    for (const double bound : bounds) {
        const double units = bound / resolution;
        made.up_to.push_back(all.count_up_to(units < 1.8e19 ? static_cast<std::uint64_t>(units + 0.5) : ~std::uint64_t(0)));
    }
    return made;
}

}  // namespace detail

namespace metrics {

namespace {

detail::exported& sample(detail::scrape& into, metric_name name, std::string_view help, detail::metric_kind kind,
                         std::initializer_list<samples::label> labels) {
    std::vector<std::string_view> names;
    std::vector<std::string_view> values;
    for (const auto& [label, value] : labels) {
        names.push_back(label.text());
        values.push_back(value);
    }
    return into.series_of(into.family_of(name.text(), help, kind, names), values);
}

}  // namespace

void samples::counter(metric_name name, std::string_view help, std::uint64_t value, std::initializer_list<label> labels) {
    sample(into_, name, help, detail::metric_kind::counter, labels).whole += value;
}

void samples::gauge(metric_name name, std::string_view help, double value, std::initializer_list<label> labels) {
    sample(into_, name, help, detail::metric_kind::gauge, labels).value += value;
}

}  // namespace metrics
}  // namespace roost::inline ROOST_ABI
