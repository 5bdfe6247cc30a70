#pragma once

// Where metrics are registered, and what a scrape reads.

#include <roost/observe/detail/forward.hpp>
#include <roost/observe/samples.hpp>

#include <functional>
#include <memory>
#include <string>

namespace roost::inline ROOST_ABI::metrics {

// A function that is called at each scrape, until this object is destroyed. The destructor waits until no call is running; none
// follows. So the function itself must not destroy it. Movable; an object that was moved from collects nothing.
class [[nodiscard]] collector {
public:
    collector() noexcept = default;
    collector(collector&& other) noexcept;
    collector& operator=(collector&& other) noexcept;
    ~collector() { reset(); }

private:
    friend class registry;
    collector(std::shared_ptr<detail::registry_core> in, std::shared_ptr<detail::collector_entry> entry) noexcept;
    void reset() noexcept;

    std::shared_ptr<detail::registry_core> in_;
    std::shared_ptr<detail::collector_entry> entry_;
};

// Metrics under their names. Thread-safe. A handle of a metric keeps its series, also when the registry is gone; nothing reads
// it then.
class registry {
public:
    registry();  // an own one, for tests and for parts of a program that are scraped apart
    registry(const registry&) = delete;
    registry& operator=(const registry&) = delete;
    ~registry();

    // Returns the one that the constructors of metrics use. It also has the metrics of the library (metrics.hpp). Never destroyed.
    [[nodiscard]] static registry& of_process();

    // Calls `read` at each scrape, on the thread that scrapes and outside every lock; several scrapes may run at once. If it
    // throws, its samples of that scrape are left out and roost_metrics_collector_failures_total counts it.
    [[nodiscard]] collector add_collector(std::function<void(samples&)> read);

private:
    friend struct detail::metrics_access;
    explicit registry(std::shared_ptr<detail::registry_core> core) noexcept;
    std::shared_ptr<detail::registry_core> core_;
};

}  // namespace roost::inline ROOST_ABI::metrics
