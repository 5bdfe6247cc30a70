#include <roost/observe/registry.hpp>

#include <roost/base/error.hpp>
#include <roost/observe/detail/registry_core.hpp>

#include <algorithm>
#include <mutex>
#include <utility>

namespace roost::inline ROOST_ABI {

namespace metrics {

collector::collector(std::shared_ptr<detail::registry_core> in, std::shared_ptr<detail::collector_entry> entry) noexcept
    : in_(std::move(in)), entry_(std::move(entry)) {}
collector::collector(collector&& other) noexcept = default;
collector& collector::operator=(collector&& other) noexcept {
    if (this != &other) {
        reset();
        in_ = std::move(other.in_);
        entry_ = std::move(other.entry_);
    }
    return *this;
}
void collector::reset() noexcept {
    if (entry_ != nullptr) {
        in_->remove(*entry_);
        entry_.reset();
        in_.reset();
    }
}

registry::registry() : core_(std::make_shared<detail::registry_core>(false)) {}
registry::registry(std::shared_ptr<detail::registry_core> core) noexcept : core_(std::move(core)) {}
registry::~registry() = default;

registry& registry::of_process() {
    static registry* const one =
        new registry(std::make_shared<detail::registry_core>(true));  // handles outlive static objects
    return *one;
}

collector registry::add_collector(std::function<void(samples&)> read) {
    auto entry = std::make_shared<detail::collector_entry>(std::move(read));
    core_->add(entry);
    return {core_, std::move(entry)};
}

}  // namespace metrics

namespace detail {

namespace {

[[noreturn]] void refuse(const metric_definition& known, const metric_definition& wanted) {
    std::string why;
    if (known.name != wanted.name) {
        why = "clashes with metric '" + known.name + "', whose samples it would share in OpenMetrics";
    } else if (known.kind != wanted.kind) {
        why = "is registered as a " + std::string(to_string(known.kind)) + ", and cannot be a " +
              std::string(to_string(wanted.kind)) + " too";
    } else if (known.help != wanted.help) {
        why = "is registered with the help '" + known.help + "', and cannot have the help '" + wanted.help + "' too";
    } else if (known.labels != wanted.labels) {
        why = "is registered with other labels";
    } else {
        why = "is registered with other buckets";
    }
    throw error(errc::refused, "metric '" + wanted.name + "' " + why);
}

bool is_same(const metric_definition& a, const metric_definition& b) noexcept {
    return a.kind == b.kind && a.help == b.help && a.labels == b.labels && a.bounds == b.bounds &&
           a.resolution == b.resolution;
}

// The other name that OpenMetrics would write alike: it shows a counter x_total as the family x.
std::string twin_of(const metric_definition& of) {
    constexpr std::string_view total = "_total";
    return of.kind == metric_kind::counter ? of.name.substr(0, of.name.size() - total.size()) : of.name + std::string(total);
}

}  // namespace

std::shared_ptr<family> registry_core::define(metric_definition of) {
    of.require_valid();
    {
        const std::lock_guard hold(lock_);
        if (const auto twin = families_.find(twin_of(of)); twin != families_.end()) {
            refuse(twin->second->definition(), of);
        }
        if (const auto known = families_.find(of.name); known != families_.end()) {
            if (!is_same(known->second->definition(), of)) {
                refuse(known->second->definition(), of);
            }
            return known->second;
        }
    }
    auto made = std::make_shared<family>(std::move(of));
    const metric_definition& definition = made->definition();
    const std::lock_guard hold(lock_);
    if (const auto twin = families_.find(twin_of(definition)); twin != families_.end()) {
        refuse(twin->second->definition(), definition);
    }
    const auto [at, is_new] = families_.try_emplace(definition.name, made);
    if (!is_new && !is_same(at->second->definition(), definition)) {  // another thread was faster
        refuse(at->second->definition(), definition);
    }
    return at->second;
}

void registry_core::add(std::shared_ptr<collector_entry> entry) {
    const std::lock_guard hold(lock_);
    collectors_.push_back(std::move(entry));
}

void registry_core::remove(collector_entry& entry) noexcept {
    entry.end();
    {
        const std::lock_guard hold(lock_);
        std::erase_if(collectors_, [&](const auto& known) { return known.get() == &entry; });
    }
    while (entry.is_called()) {
        yield_thread();
    }
}

// A collector that throws leaves nothing behind.
void registry_core::read_collectors(scrape& into) {
    std::vector<std::shared_ptr<collector_entry>> all;
    {
        const std::lock_guard hold(lock_);
        all = collectors_;
    }
    for (const std::shared_ptr<collector_entry>& entry : all) {
        scrape before = into;
        if (!entry->enter()) {
            continue;
        }
        try {
            metrics::samples to(into);
            entry->read(to);
        } catch (...) {
            into = std::move(before);
            failures_.add(1);
        }
        entry->leave();
    }
}

void registry_core::read_own(scrape& into, const std::vector<std::shared_ptr<family>>& all) {
    metrics::samples own(into);
    if (failures_.read() != 0) {
        own.counter("roost_metrics_collector_failures_total", "Collectors that threw, whose samples are left out.",
                    failures_.read());
    }
    for (const std::shared_ptr<family>& f : all) {
        if (f->overflows() != 0) {
            own.counter("roost_metrics_label_overflow_total", "Uses of label values above the limit, counted as 'other'.",
                        f->overflows(), {{"metric", f->definition().name}});
        }
    }
}

namespace {

exported export_series(const series& of, const metric_definition& as) {
    exported made;
    if (as.kind == metric_kind::counter) {
        auto& counter = const_cast<counter_series&>(static_cast<const counter_series&>(of));
        made.whole = counter.count.read();
        const std::lock_guard hold(counter.lock);
        made.last = counter.last;
    } else if (as.kind == metric_kind::gauge) {
        made.value = static_cast<const gauge_series&>(of).value();
    } else {
        auto& histogram = const_cast<histogram_series&>(static_cast<const histogram_series&>(of));
        made.histogram = export_histogram(histogram.all.read(), as.bounds, as.resolution);
        made.histogram->exemplars.resize(as.bounds.size() + 1);
        const std::lock_guard hold(histogram.lock);
        std::ranges::copy(histogram.exemplars, made.histogram->exemplars.begin());
    }
    made.values = of.values;
    return made;
}

}  // namespace

scrape registry_core::read() {
    std::vector<std::shared_ptr<family>> all;
    {
        const std::lock_guard hold(lock_);
        for (const auto& [name, known] : families_) {
            all.push_back(known);
        }
    }
    scrape made;
    for (const std::shared_ptr<family>& f : all) {
        const metric_definition& as = f->definition();
        exported_family& to = made.families.emplace_back(exported_family{as.name, as.help, as.kind, as.labels, {}});
        for (const std::shared_ptr<series>& one : f->all()) {
            to.series.push_back(export_series(*one, as));
        }
    }
    if (has_built_in_) {
        read_built_in(made);
    }
    read_collectors(made);
    read_own(made, all);
    std::ranges::sort(made.families, {}, &exported_family::name);
    return made;
}

std::shared_ptr<family> metrics_access::define(const metrics::registry& in, std::string_view name, std::string_view help,
                                               metric_kind kind, std::span<const metrics::label_name> labels,
                                               const metrics::buckets* how) {
    metric_definition of{std::string(name), {}, kind, {}, {}, 0};
    append_clean(of.help, help, 1000);
    for (const metrics::label_name& label : labels) {
        of.labels.emplace_back(label.text());
    }
    if (how != nullptr) {
        of.bounds = how->bounds();
        of.resolution = how->resolution();
    }
    return in.core_->define(std::move(of));
}

}  // namespace detail
}  // namespace roost::inline ROOST_ABI
