#pragma once

#include <roost/base/clock.hpp>
#include <roost/base/site.hpp>
#include <roost/exec/executor.hpp>
#include <roost/exec/timer.hpp>
#include <roost/pool/error.hpp>
#include <roost/tree/node.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace roost::inline ROOST_ABI {

namespace observe {

// A holder of a resource, for reports.
class pool_holder {
public:
    pool_holder(std::string_view holder, roost::site where, int stripe, duration age) noexcept
        : holder_(holder), where_(where), stripe_(stripe), age_(age) {}
    [[nodiscard]] std::string_view name() const noexcept { return holder_; }  // as passed to acquire; may be empty
    [[nodiscard]] roost::site site() const noexcept { return where_; }           // of the call to acquire
    [[deprecated("use site()")]] [[nodiscard]] roost::site where() const noexcept { return site(); }
    [[nodiscard]] int stripe() const noexcept { return stripe_; }
    [[nodiscard]] duration age() const noexcept { return age_; }  // zero unless the pool tracks ages
    // Returns text such as "checkout (server.cpp:42, 1.2 s)".
    [[nodiscard]] std::string to_string() const;

private:
    std::string_view holder_;
    roost::site where_;
    int stripe_;
    duration age_;
};

}  // namespace observe

struct pool_options {
    // After `after` failed creations in a row, the pool suspends creating for `first`. Each further failure doubles the
    // time, up to `most`; if `most` is zero, the time stays `first`. During a suspension an acquire waits if the pool has
    // any resource alive. Otherwise it fails at once with the last error.
    struct create_backoff {
        create_backoff() noexcept = default;
        create_backoff(std::uint32_t failures, duration shortest, duration longest) noexcept
            : after(failures), first(shortest), most(longest) {}
        std::uint32_t after = 0;  // 0: creating is never suspended
        duration first{};
        duration most{};
    };

    explicit pool_options(std::uint32_t how_many, std::string_view label = "pool") : name(label), capacity(how_many) {}

    std::string name;
    std::uint32_t capacity;  // the largest number of resources; at least 1
    std::uint32_t room = 0;  // the largest capacity that resize() accepts; 0: the capacity
    std::uint32_t stripes = 0;  // 0: one per processor. At most the capacity, and at least one per ten slots of room

    duration idle_ttl{};  // a resource idle for longer is destroyed; zero: never
    duration max_lifetime{};  // a resource older than this is destroyed when returned or idle; zero: never
    double lifetime_jitter = 0.1;  // shortens each lifetime by up to this fraction, drawn once at creation
    std::uint32_t warm = 0;  // the number of resources created at once and kept alive
    duration check_after{};  // check a resource that was idle for longer before it is acquired; zero: always check
    // Limits of awaitable functions. A task is cancelled at its limit. Any other awaitable runs on, and close() waits for it.
    duration check_timeout{};  // at the limit the resource is lost, and its slot is free
    duration create_timeout{};  // at the limit the creation fails, and its slot is free
    duration destroy_timeout{};  // at the limit the slot is free
    duration leak_after{};  // a holder that keeps a resource for longer is reported, once
    bool track_ages = false;  // reads the clock at every acquire, for reports; implied by leak_after
    create_backoff backoff;

    executor_ref where;  // runs awaitable functions, destroy and upkeep
    ext::timer_service* timers = nullptr;  // for the limits and times above; requires `where`
    bool exact_clock = false;  // true: reads the timers' clock, such as virtual time. false: reads the coarse clock
    node parent;  // the pool becomes its child: its stop refuses acquires, its drain waits for resources out

    // Called by the pool for each leak, with no lock held. An exception goes to on_error.
    std::function<void(const observe::pool_holder&)> on_leak;
    // Called for failures without a waiting acquire: of destroy, of check, and of creations that no acquire waits for.
    std::function<void(const pool_error&)> on_error;
};

// The state of a pool at one moment: free + idle + out + busy = capacity + over. The numbers are read stripe by stripe, so they
// are exact only while the pool is not used.
struct pool_stats {
    pool_stats() noexcept = default;
    std::uint32_t capacity = 0;
    std::uint32_t free = 0;
    std::uint32_t idle = 0;
    std::uint32_t out = 0;
    std::uint32_t busy = 0;  // being created, checked or destroyed
    std::uint32_t over = 0;  // resources beyond the capacity, after resize() reduced it
    std::uint32_t waiting = 0;
    std::uint32_t late = 0;  // attempts past their limit, and destructions of late resources, that still run; approximate
    std::uint64_t created = 0;
    std::uint64_t destroyed = 0;
    std::uint64_t create_failures = 0;
    std::uint64_t handed_over = 0;  // resources and rights to create handed to a waiter
    std::uint64_t withdrawn = 0;  // waits that ended by cancel or deadline
    std::uint64_t checks_failed = 0;
    std::uint64_t expired = 0;  // resources past idle_ttl or max_lifetime
    std::uint64_t abandoned = 0;  // creations, checks and destructions whose limit has passed
    std::uint64_t leaks = 0;
};

}  // namespace roost::inline ROOST_ABI
