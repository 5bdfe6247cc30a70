#pragma once

// The state of a registry. Families and collectors are added under a lock; no collector is called under it.
//
// id  operation                      order    pairs  carries                                        fails in
// G1  entry: fetch_add, fetch_sub    seq_cst  G2     that a call is running, and what it did        (no model: under a lock, or after the call)
// G2  entry: load                    seq_cst  G1     that no call is running                        (no model: as G1)
// G3  gone: store, then G2; G1, then load   seq_cst  G3   that a call begins before the end is looked for, or not at all   (no model: as G1)

#include <roost/observe/detail/family.hpp>
#include <roost/observe/detail/scrape.hpp>
#include <roost/observe/registry.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace roost::inline ROOST_ABI::detail {

class collector_entry {
public:
    explicit collector_entry(std::function<void(metrics::samples&)> f) noexcept : read(std::move(f)) {}
    // Returns false if the collector is gone. Otherwise leave() has to follow.
    [[nodiscard]] bool enter() noexcept {
        inside_.fetch_add(1, mo::seq_cst);  // G1
        const bool goes_on = !is_gone_.load(mo::seq_cst);  // G3
        if (!goes_on) {
            leave();
        }
        return goes_on;
    }
    void end() noexcept { is_gone_.store(true, mo::seq_cst); }  // G3
    void leave() noexcept { inside_.fetch_sub(1, mo::seq_cst); }  // G1
    [[nodiscard]] bool is_called() const noexcept { return inside_.load(mo::seq_cst) != 0; }  // G2

    const std::function<void(metrics::samples&)> read;

private:
    atomic<std::uint32_t> inside_{0};
    atomic<bool> is_gone_{false};
};

class registry_core {
public:
    explicit registry_core(bool has_built_in) noexcept : has_built_in_(has_built_in) {}

    // Returns the family of this definition. Throws error(refused) if the definition is not valid, or if the name has another one.
    [[nodiscard]] std::shared_ptr<family> define(metric_definition of);
    void add(std::shared_ptr<collector_entry> entry);
    // Removes the entry. Blocks until no call of it is running.
    void remove(collector_entry& entry) noexcept;
    [[nodiscard]] scrape read();

private:
    void read_collectors(scrape& into);
    void read_own(scrape& into, const std::vector<std::shared_ptr<family>>& all);

    const bool has_built_in_;
    os_mutex lock_;  // of what follows
    std::map<std::string, std::shared_ptr<family>, std::less<>> families_;
    std::vector<std::shared_ptr<collector_entry>> collectors_;
    thread_counter failures_;  // of collectors
};

// Adds the metrics of the library itself.
void read_built_in(scrape& into);

struct metrics_access {
    [[nodiscard]] static const std::shared_ptr<registry_core>& core_of(const metrics::registry& r) noexcept {
        return r.core_;
    }
    [[nodiscard]] static std::shared_ptr<family> define(const metrics::registry& in, std::string_view name,
                                                        std::string_view help, metric_kind kind,
                                                        std::span<const metrics::label_name> labels,
                                                        const metrics::buckets* how);
};

}  // namespace roost::inline ROOST_ABI::detail
