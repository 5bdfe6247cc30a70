// The metrics of the library itself.

#include <roost/base/detail/measuring.hpp>
#include <roost/base/detail/metric_source.hpp>
#include <roost/observe/built_in.hpp>
#include <roost/observe/detail/registry_core.hpp>
#include <roost/task/detail/job/job_meter.hpp>
#include <roost/task/detail/job/watching.hpp>

#include <algorithm>
#include <array>

namespace roost::inline ROOST_ABI {

namespace detail {

namespace {

// Adds what the sources tell to a scrape. Numbers with equal labels are added up.
class scrape_sink final : public metric_sink {
public:
    explicit scrape_sink(scrape& into) noexcept : into_(into) {}

    void gauge(const char* name, const char* help, double value, labels of) override {
        series_of(name, help, metric_kind::gauge, of).value += value;
    }
    void counter(const char* name, const char* help, std::uint64_t value, labels of) override {
        series_of(name, help, metric_kind::counter, of).whole += value;
    }
    void times(const char* name, const char* help, const distribution& all, labels of) override {
        std::optional<exported_histogram>& to = series_of(name, help, metric_kind::histogram, of).histogram;
        exported_histogram more = export_histogram(all, times_bounds(name), metrics::buckets::nanosecond);
        if (!to) {
            to = std::move(more);
            return;
        }
        std::ranges::transform(to->up_to, more.up_to, to->up_to.begin(), std::plus<>());
        to->count += more.count;
        to->sum += more.sum;
    }

private:
    // What happens on a worker takes microseconds, so its bounds begin lower.
    static const std::vector<double>& times_bounds(std::string_view name) {
        static const metrics::buckets long_waits = metrics::buckets::seconds();
        static const metrics::buckets short_waits{1e-6, 5e-6, 1e-5,   2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3,
                                                  5e-3, 1e-2, 2.5e-2, 5e-2,   0.1,  0.25, 0.5,    1,    2.5,  10};
        return (name == "roost_run_delay_seconds" || name == "roost_body_seconds" || name == "roost_lock_wait_seconds"
                    ? short_waits
                    : long_waits)
            .bounds();
    }

    exported& series_of(const char* name, const char* help, metric_kind kind, labels of) {
        std::vector<std::string_view> names;
        std::vector<std::string_view> values;
        for (const metric_label& label : of) {
            names.emplace_back(label.name);
            values.push_back(label.value);
        }
        return into_.series_of(into_.family_of(name, help, kind, names), values);
    }

    scrape& into_;
};

constexpr std::array<std::string_view, 3> outcomes{"completed", "failed", "cancelled"};

void read_jobs(scrape_sink& to, const scrape& so_far) {
    const job_totals jobs = job_meter::totals();
    double busy = 0;
    for (const exported_family& f : so_far.families) {
        for (const exported& one : f.series) {
            busy += f.name == "roost_workers" && one.values.back() == "busy" ? one.value : 0;
        }
    }
    const double alive = jobs.created > jobs.ended ? double(jobs.created - jobs.ended) : 0;
    const char* const help = "Jobs that have begun to exist since measuring is on, and have not ended.";
    to.gauge("roost_jobs", help, std::min(busy, alive), {{"state", "running"}});
    to.gauge("roost_jobs", help, alive - std::min(busy, alive), {{"state", "waiting"}});
    job_meter::read([&](std::string_view name, job_end how, std::uint64_t count) {
        to.counter("roost_jobs_total", "Jobs that ended, by outcome and name.", count,
                   {{"outcome", outcomes[static_cast<std::size_t>(how)]}, {"name", name}});
    });
}

void read_times(scrape_sink& to) {
    struct entry {
        timed what;
        const char* name;
        const char* help;
    };
    constexpr std::array<entry, 4> all{{
        {timed::run_delay, "roost_run_delay_seconds", "From the start of a job to its first step; a sample."},
        {timed::body, "roost_body_seconds", "How long a job ran without suspending; a sample."},
        {timed::lock_wait, "roost_lock_wait_seconds", "How long a job waited for a mutex or for permits of a semaphore."},
        {timed::timer_lateness, "roost_timer_lateness_seconds", "How long after its deadline a timer fired."},
    }};
    for (const entry& e : all) {
        if (const fine_histogram* times = measuring::times(e.what)) {
            to.times(e.name, e.help, times->read(), {});
        }
    }
}

void read_rare(scrape_sink& to) {
    const char* const stalls = "What kept a worker or a job for longer than its limit.";
    to.counter("roost_stalls_total", stalls, measuring::count_of(rare_event::stall), {{"kind", "body"}});
    to.counter("roost_stalls_total", stalls, measuring::count_of(rare_event::late_start), {{"kind", "runnable"}});
    to.counter("roost_stalls_total", stalls, measuring::count_of(rare_event::ignored_cancel), {{"kind", "ignored_cancel"}});
    to.counter("roost_dropped_events_total", "Events that were not recorded because there was no room.",
               measuring::count_of(rare_event::dropped_event), {});
}

}  // namespace

void read_built_in(scrape& into) {
    scrape_sink to(into);
    metric_source::read_all(to);
    if (measuring::times(timed::body) != nullptr) {  // it was on
        read_jobs(to, into);
        read_times(to);
    }
    read_rare(to);
}

}  // namespace detail

namespace metrics {

bool set_enabled(bool on) {
    if (on) {
        detail::job_meter::prepare();
    }
    const bool before = detail::measuring::set(on);
    static_cast<void>(detail::watching::all().measure(on));
    return before;
}

bool is_enabled() noexcept { return detail::measuring::is_on(); }

void count_stall(stall_kind kind) noexcept {
    detail::measuring::count(kind == stall_kind::body       ? detail::rare_event::stall
                             : kind == stall_kind::runnable ? detail::rare_event::late_start
                                                            : detail::rare_event::ignored_cancel);
}
void count_dropped_events(std::uint64_t n) noexcept { detail::measuring::count(detail::rare_event::dropped_event, n); }

collector observe_guards(const shutdown& of, registry& in) {
    return in.add_collector([of](samples& to) {
        to.gauge("roost_guards", "Units of work below a shutdown node.", double(of.guard_count()), {{"node", of.name()}});
    });
}

}  // namespace metrics
}  // namespace roost::inline ROOST_ABI
