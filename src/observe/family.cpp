#include <roost/observe/detail/family.hpp>

#include <roost/base/error.hpp>

#include <algorithm>
#include <mutex>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

namespace {

// How many bytes the UTF-8 character at the beginning has; 0 if it is broken.
std::size_t character_bytes(std::string_view text) noexcept {
    const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) {
        return 1;
    }
    const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < size) {
        return 0;
    }
    const unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (byte(1) < low || byte(1) > high) {
        return 0;
    }
    for (std::size_t i = 2; i < size; ++i) {
        if ((byte(i) & 0xc0U) != 0x80) {
            return 0;
        }
    }
    return size;
}

std::uint64_t mix(std::uint64_t hash, std::string_view text) noexcept {
    for (const char c : text) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    }
    return (hash ^ 0xff) * 0x100000001b3U;  // so that "ab","c" and "a","bc" differ
}

bool is_clean(std::string_view text) noexcept {
    return text.size() <= family::longest_value && std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 0x7f; });
}

}  // namespace

void append_clean(std::string& to, std::string_view value, std::size_t longest) {
    constexpr std::string_view replacement = "\xef\xbf\xbd";
    const std::size_t begin = to.size();
    std::size_t fits = begin;  // up to here, with room for "..."
    while (!value.empty()) {
        const std::size_t size = character_bytes(value);
        const auto first = static_cast<unsigned char>(value[0]);
        const bool is_control = size == 1 && (first == 0x7f || (first < ' ' && first != '\n' && first != '\t'));
        to.append(size == 0 || is_control ? replacement : value.substr(0, size));
        value.remove_prefix(std::max<std::size_t>(size, 1));
        if (to.size() - begin > longest) {
            to.resize(fits);
            to.append("...");
            return;
        }
        fits = to.size() - begin + 3 <= longest ? to.size() : fits;
    }
}

std::string_view to_string(metric_kind kind) noexcept {
    return kind == metric_kind::counter ? "counter" : kind == metric_kind::gauge ? "gauge" : "histogram";
}

void metric_definition::require_valid() const {
    const std::string subject = "metric '" + name + "' ";
    const bool is_total = name.ends_with("_total");
    if (kind == metric_kind::counter && !is_total) {
        throw error(errc::refused, subject + "is a counter, so its name has to end with _total");
    }
    if (kind != metric_kind::counter && is_total) {
        throw error(errc::refused, subject + "is a " + std::string(to_string(kind)) +
                                       ", so its name must not end with _total, which belongs to counters");
    }
    for (const std::string_view taken : {"_bucket", "_count", "_sum", "_created"}) {
        if (name.ends_with(taken)) {
            throw error(errc::refused,
                        subject + "must not end with " + std::string(taken) + ", which belongs to histograms");
        }
    }
    for (auto label = labels.begin(); label != labels.end(); ++label) {
        if (std::find(labels.begin(), label, *label) != label) {
            throw error(errc::refused, subject + "has the label '" + *label + "' twice");
        }
    }
}

family::family(metric_definition of) : definition_(std::move(of)) {
    std::vector<std::string> others(definition_.labels.size(), "other");
    other_ = make(std::move(others));
    if (!definition_.labels.empty()) {
        hashes_.reserve(most_series);
        series_.reserve(most_series);
    }
}

std::shared_ptr<series> family::make(std::vector<std::string> values) const {
    std::shared_ptr<series> made;
    if (definition_.kind == metric_kind::counter) {
        made = std::make_shared<counter_series>();
    } else if (definition_.kind == metric_kind::gauge) {
        made = std::make_shared<gauge_series>();
    } else {
        // Alone, a histogram has a part for each thread of a small runtime; one of many series has fewer: 31 kilobytes.
        const std::size_t parts = values.empty() ? std::clamp<std::size_t>(hardware_threads() + 2, 4, 16) : 4;
        made = std::make_shared<histogram_series>(metrics::buckets(definition_.bounds, definition_.resolution), parts);
    }
    made->values = std::move(values);
    return made;
}

std::shared_ptr<series> family::find(std::uint64_t hash, std::span<const std::string_view> values) const noexcept {
    for (std::size_t i = 0; i < hashes_.size(); ++i) {
        if (hashes_[i] == hash && std::ranges::equal(series_[i]->values, values)) {
            return series_[i];
        }
    }
    return nullptr;
}

std::shared_ptr<series> family::with(std::span<const std::string_view> values) {
    if (values.size() != definition_.labels.size()) {
        throw error(errc::refused, "metric '" + definition_.name + "' has " + std::to_string(definition_.labels.size()) +
                                       " labels, but " + std::to_string(values.size()) + " values were given");
    }
    if (values.empty()) {
        return other_;
    }
    std::vector<std::string> cleaned;
    std::vector<std::string_view> clean_views;
    if (!std::ranges::all_of(values, is_clean)) {
        for (const std::string_view value : values) {
            append_clean(cleaned.emplace_back(), value, longest_value);
        }
        clean_views.assign(cleaned.begin(), cleaned.end());
        values = clean_views;
    }
    if (std::ranges::all_of(values, [](std::string_view value) { return value == "other"; })) {
        const std::lock_guard hold(lock_);
        is_other_used_ = true;
        return other_;
    }
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const std::string_view value : values) {
        hash = mix(hash, value);
    }
    {
        const std::lock_guard hold(lock_);
        if (std::shared_ptr<series> known = find(hash, values)) {
            return known;
        }
        if (series_.size() == most_series) {
            overflows_.add(1);
            return other_;
        }
    }
    std::shared_ptr<series> made = make(std::vector<std::string>(values.begin(), values.end()));
    const std::lock_guard hold(lock_);
    if (std::shared_ptr<series> known = find(hash, values)) {  // another thread was faster
        return known;
    }
    if (series_.size() == most_series) {
        overflows_.add(1);
        return other_;
    }
    hashes_.push_back(hash);
    series_.push_back(made);
    return made;
}

std::vector<std::shared_ptr<series>> family::all() const {
    std::vector<std::shared_ptr<series>> found;
    found.reserve(most_series + 1);
    bool has_other = definition_.labels.empty() || overflows_.read() != 0;
    if (!definition_.labels.empty()) {
        const std::lock_guard hold(lock_);
        found.assign(series_.begin(), series_.end());
        has_other = has_other || is_other_used_;
    }
    if (has_other) {
        found.push_back(other_);
    }
    return found;
}

}  // namespace roost::inline ROOST_ABI::detail
