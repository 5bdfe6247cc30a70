#pragma once

// Counters, gauges and histograms of an application, and those of the library, for Prometheus and OpenMetrics.
//
//   metrics::counter orders("shop_orders_total", "Orders accepted.");
//   metrics::labelled<metrics::counter> answers("shop_answers_total", "Answers sent.", {"status"});
//   metrics::gauge open("shop_open_carts", "Carts that are open now.");
//   metrics::histogram took("shop_answer_seconds", "From a request to its answer.");
//
//   orders.add();                                  no lock; each of 24 threads has a cache line of its own
//   answers.with({"200"}).add();                   takes a lock to find the series; on a hot path, keep what with() returns
//   took.record(0.25);                             seconds, or a duration
//   reply(metrics::to_prometheus());               metrics_text.hpp
//   metrics::enable();                             measures jobs too; built_in.hpp lists the metrics of the library
//
// A handle is a shared pointer to its series. The series lives as long as a handle, also after its registry was destroyed.
// Two handles with the same name, type, help, labels and buckets are the same metric. A constructor throws error(refused) if
// the name is taken by another definition, or ends with _bucket, _count, _sum or _created. Constructors and with() allocate
// and throw std::bad_alloc. All other functions are thread-safe, allocate nothing and never wait for a lock. An exemplar is
// left out if another thread writes one at that moment.
//
// Labels: at most 200 series per metric. Further label values become `other`, and roost_metrics_label_overflow_total{metric}
// counts their uses. A value is cut at 120 bytes. Bytes that are not UTF-8 are replaced.

#include <roost/base/clock.hpp>
#include <roost/observe/buckets.hpp>
#include <roost/observe/built_in.hpp>
#include <roost/observe/detail/metric_handles.hpp>
#include <roost/observe/exemplar.hpp>
#include <roost/observe/metric_name.hpp>
#include <roost/observe/metrics_text.hpp>
#include <roost/observe/registry.hpp>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <utility>

namespace roost::inline ROOST_ABI::metrics {

template <class Metric>
class labelled;

// A number that only grows. Memory: 2 kilobytes per series.
class counter {
public:
    // Throws error(refused) if the name does not end with _total, or is taken. Throws std::bad_alloc.
    counter(metric_name name, std::string_view help, const registry& in = registry::of_process())
        : counter(detail::metric_handles::only(in, name.text(), help, kind)) {}
    counter(const counter&) noexcept = default;
    counter& operator=(const counter&) noexcept = default;

    // Wait-free.
    void add(std::uint64_t n = 1) const noexcept { series_->count.add(n); }
    // As add(n). OpenMetrics shows the last exemplar.
    void add(std::uint64_t n, const exemplar& of) const noexcept {
        series_->count.add(n);
        series_->keep(of, n);
    }
    // Returns the sum of all add() that happened before.
    [[nodiscard]] std::uint64_t value() const noexcept { return series_->count.read(); }

private:
    friend class labelled<counter>;
    static constexpr detail::metric_kind kind = detail::metric_kind::counter;
    explicit counter(std::shared_ptr<detail::series> of) noexcept
        : series_(std::static_pointer_cast<detail::counter_series>(std::move(of))) {}
    std::shared_ptr<detail::counter_series> series_;
};

// A number that goes up and down.
class gauge {
public:
    // Throws error(refused) if the name ends with _total, or is taken. Throws std::bad_alloc.
    gauge(metric_name name, std::string_view help, const registry& in = registry::of_process())
        : gauge(detail::metric_handles::only(in, name.text(), help, kind)) {}
    gauge(const gauge&) noexcept = default;
    gauge& operator=(const gauge&) noexcept = default;

    void set(double value) const noexcept { series_->set(value); }
    void add(double change) const noexcept { series_->add(change); }
    [[nodiscard]] double value() const noexcept { return series_->value(); }

private:
    friend class labelled<gauge>;
    static constexpr detail::metric_kind kind = detail::metric_kind::gauge;
    explicit gauge(std::shared_ptr<detail::series> of) noexcept
        : series_(std::static_pointer_cast<detail::gauge_series>(std::move(of))) {}
    std::shared_ptr<detail::gauge_series> series_;
};

// How many values of each size were recorded, within about 3 % (buckets.hpp). Memory: 8 kilobytes per part; 4 to 16 parts,
// by the number of hardware threads; with labels 4 parts, 31 kilobytes, per series.
class histogram {
public:
    // Throws error(refused) if the name ends with _total, or is taken. Throws std::bad_alloc.
    histogram(metric_name name, std::string_view help, const buckets& how = buckets::seconds(),
              const registry& in = registry::of_process())
        : histogram(detail::metric_handles::only(in, name.text(), help, kind, &how)) {}
    histogram(const histogram&) noexcept = default;
    histogram& operator=(const histogram&) noexcept = default;

    // Wait-free. A value below zero, or one that is not a number, counts as 0.
    void record(double value) const noexcept { series_->record(value); }
    void record(duration took) const noexcept { series_->record(std::chrono::duration<double>(took).count()); }
    // As record(value). OpenMetrics shows the last exemplar of each bucket.
    void record(double value, const exemplar& of) const noexcept { series_->record(value, of); }
    void record(duration took, const exemplar& of) const noexcept {
        series_->record(std::chrono::duration<double>(took).count(), of);
    }

    // Returns how many values were recorded.
    [[nodiscard]] std::uint64_t count() const noexcept { return series_->all.read().count(); }
    // Returns the value that the share q (0 to 1) of all values does not exceed, within about 3 %. Returns 0 if there are no
    // values.
    [[nodiscard]] double quantile(double q) const noexcept {
        return static_cast<double>(series_->all.read().quantile(q)) / series_->per_unit;
    }

private:
    friend class labelled<histogram>;
    static constexpr detail::metric_kind kind = detail::metric_kind::histogram;
    explicit histogram(std::shared_ptr<detail::series> of) noexcept
        : series_(std::static_pointer_cast<detail::histogram_series>(std::move(of))) {}
    std::shared_ptr<detail::histogram_series> series_;
};

// A metric with labels: one series per combination of label values.
template <class Metric>
class labelled {
public:
    // Throw error(refused) as the constructors of Metric, and if a label is named twice. Throw std::bad_alloc.
    labelled(metric_name name, std::string_view help, std::initializer_list<label_name> labels,
             const registry& in = registry::of_process())
        requires(Metric::kind != detail::metric_kind::histogram)
        : family_(detail::metric_handles::all(in, name.text(), help, Metric::kind, labels)) {}
    labelled(metric_name name, std::string_view help, std::initializer_list<label_name> labels,
             const buckets& how = buckets::seconds(), const registry& in = registry::of_process())
        requires(Metric::kind == detail::metric_kind::histogram)
        : family_(detail::metric_handles::all(in, name.text(), help, Metric::kind, labels, &how)) {}

    // Returns the series with these values, in the order of the labels. Takes a lock for the search. Thread-safe. Throws
    // error(refused) if there are too few or too many values. For new values, allocates and throws std::bad_alloc.
    [[nodiscard]] Metric with(std::initializer_list<std::string_view> values) const {
        return Metric(family_->with({values.begin(), values.size()}));
    }

private:
    std::shared_ptr<detail::family> family_;
};

}  // namespace roost::inline ROOST_ABI::metrics
