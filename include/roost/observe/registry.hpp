#pragma once

// Where metrics are registered, and what a scrape reads.

#include <roost/observe/detail/forward.hpp>
#include <roost/observe/samples.hpp>

#include <functional>
#include <memory>
#include <string>

namespace roost::inline ROOST_ABI::metrics {

// A registered function, which is called at each scrape until this object is destroyed. The destructor waits until no call is
// running; no call follows. So the function must not destroy this object. A moved-from object has no function.
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

// Metrics under their names. Thread-safe. A handle of a metric still works after its registry was destroyed, but no scrape
// reads it.
class registry {
public:
    // Makes an empty registry, for tests and for parts of a program that are scraped separately. Throws std::bad_alloc.
    registry();
    registry(const registry&) = delete;
    registry& operator=(const registry&) = delete;
    ~registry();

    // Returns the default registry of all metrics. It also has the metrics of the library (built_in.hpp). Never destroyed.
    [[nodiscard]] static registry& of_process();

    // Registers `read`. Each scrape calls it, on the thread that scrapes and outside every lock; several scrapes may run at
    // once. If `read` throws, its samples of that scrape are left out, and roost_metrics_collector_failures_total counts it.
    // Throws std::bad_alloc.
    [[nodiscard]] collector add_collector(std::function<void(samples&)> read);

private:
    friend struct detail::metrics_access;
    explicit registry(std::shared_ptr<detail::registry_core> core) noexcept;
    std::shared_ptr<detail::registry_core> core_;
};

}  // namespace roost::inline ROOST_ABI::metrics
