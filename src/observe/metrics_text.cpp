#include <roost/observe/metrics_text.hpp>

#include <roost/observe/detail/registry_core.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace roost::inline ROOST_ABI {

namespace detail {

namespace {

void append_number(std::string& to, double value) {
    if (std::isnan(value)) {
        to.append("NaN");
    } else if (std::isinf(value)) {
        to.append(value > 0 ? "+Inf" : "-Inf");
    } else {
        std::array<char, 32> text{};
        const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
        to.append(text.data(), end);
    }
}

// As OpenMetrics wants the bounds of buckets: 1.0, not 1.
void append_bound(std::string& to, double bound) {
    const std::size_t begin = to.size();
    append_number(to, bound);
    if (to.find_first_of(".eI", begin) == std::string::npos) {
        to.append(".0");
    }
}

void append_escaped(std::string& to, std::string_view text, bool with_quotes) {
    for (const char c : text) {
        if (c == '\n') {
            to.append("\\n");
        } else {
            if (c == '\\' || (c == '"' && with_quotes)) {
                to.push_back('\\');
            }
            to.push_back(c);
        }
    }
}

class text_writer {
public:
    explicit text_writer(bool is_open) noexcept : is_open_(is_open) {}

    [[nodiscard]] std::string write(const scrape& of) {
        for (const exported_family& f : of.families) {
            has_twin_ = has_twin(of, f);
            header(f);
            for (const exported& one : f.series) {
                switch (f.kind) {
                    case metric_kind::counter: counter(f, one); break;
                    case metric_kind::gauge:
                        sample(f.name, f, one);
                        append_number(out_, one.value);
                        out_.push_back('\n');
                        break;
                    case metric_kind::histogram: histogram(f, one); break;
                }
            }
        }
        if (is_open_) {
            out_.append("# EOF\n");
        }
        return std::move(out_);
    }

private:
    // OpenMetrics calls the family of the counter x_total x. If there is a gauge x too, the counter is shown as `unknown`, under
    // its whole name.
    [[nodiscard]] bool has_twin(const scrape& of, const exported_family& f) const {
        return is_open_ && f.kind == metric_kind::counter &&
               std::ranges::find(of.families, without_total(f.name), &exported_family::name) != of.families.end();
    }
    [[nodiscard]] static std::string_view without_total(std::string_view name) noexcept {
        return name.substr(0, name.size() - std::string_view("_total").size());
    }

    void header(const exported_family& f) {
        std::string_view name = f.name;
        if (is_open_ && f.kind == metric_kind::counter && !has_twin_) {
            name = without_total(name);
        }
        out_.append("# HELP ").append(name).append(" ");
        append_escaped(out_, f.help, is_open_);
        out_.append("\n# TYPE ").append(name).append(" ").append(has_twin_ ? "unknown" : to_string(f.kind)).append("\n");
        if (is_open_ && name.ends_with("_seconds")) {
            out_.append("# UNIT ").append(name).append(" seconds\n");
        }
    }

    // Everything before the value. bound: of a bucket, or null.
    void sample(std::string_view name, const exported_family& f, const exported& of, const double* bound = nullptr) {
        out_.append(name);
        char before = '{';
        for (std::size_t i = 0; i < f.labels.size(); ++i) {
            out_.push_back(before);
            out_.append(f.labels[i]).append("=\"");
            append_escaped(out_, of.values[i], true);
            out_.push_back('"');
            before = ',';
        }
        if (bound != nullptr) {
            out_.push_back(before);
            out_.append("le=\"");
            append_bound(out_, *bound);
            out_.push_back('"');
            before = ',';
        }
        out_.append(before == '{' ? " " : "} ");
    }

    void example(const kept_exemplar& of) {
        if (!is_open_ || has_twin_ || !of.is_set()) {
            return;
        }
        std::string trace;
        std::string span;
        append_clean(trace, {of.trace.data(), of.trace_size}, of.trace.size());
        append_clean(span, {of.span.data(), of.span_size}, of.span.size());
        out_.append(" # {trace_id=\"");
        append_escaped(out_, trace, true);
        if (!span.empty()) {
            out_.append("\",span_id=\"");
            append_escaped(out_, span, true);
        }
        out_.append("\"} ");
        append_number(out_, of.value);
        std::array<char, 32> at{};
        const auto end = std::to_chars(at.data(), at.data() + at.size(), of.at, std::chars_format::fixed, 3).ptr;
        out_.append(" ").append(at.data(), end);
    }

    void counter(const exported_family& f, const exported& one) {
        sample(f.name, f, one);
        out_.append(std::to_string(one.whole));
        example(one.last);
        out_.push_back('\n');
    }

    void histogram(const exported_family& f, const exported& one) {
        const exported_histogram& h = *one.histogram;
        const std::string bucket = f.name + "_bucket";
        for (std::size_t i = 0; i <= h.bounds.size(); ++i) {
            const bool is_last = i == h.bounds.size();
            const double bound = is_last ? HUGE_VAL : h.bounds[i];
            sample(bucket, f, one, &bound);
            out_.append(std::to_string(is_last ? h.count : h.up_to[i]));
            if (i < h.exemplars.size()) {
                example(h.exemplars[i]);
            }
            out_.push_back('\n');
        }
        sample(f.name + "_sum", f, one);
        append_number(out_, h.sum);
        out_.push_back('\n');
        sample(f.name + "_count", f, one);
        out_.append(std::to_string(h.count)).push_back('\n');
    }

    const bool is_open_;
    bool has_twin_ = false;
    std::string out_;
};

}  // namespace

std::string write_prometheus(const scrape& of) { return text_writer(false).write(of); }
std::string write_openmetrics(const scrape& of) { return text_writer(true).write(of); }

}  // namespace detail

namespace metrics {

std::string to_prometheus(const registry& from) {
    return detail::write_prometheus(detail::metrics_access::core_of(from)->read());
}
std::string to_openmetrics(const registry& from) {
    return detail::write_openmetrics(detail::metrics_access::core_of(from)->read());
}

std::string to_text(std::string_view accept, const registry& from) {
    return format_for(accept) == text_format::openmetrics ? to_openmetrics(from) : to_prometheus(from);
}

std::string_view content_type_for(std::string_view accept) noexcept {
    return format_for(accept) == text_format::openmetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                                          : "text/plain; version=0.0.4; charset=utf-8";
}

}  // namespace metrics
}  // namespace roost::inline ROOST_ABI
