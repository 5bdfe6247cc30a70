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

// Somebody who has a resource out.
class pool_holder {
public:
    pool_holder(std::string_view who, site where, int stripe, duration age) noexcept
        : who_(who), where_(where), stripe_(stripe), age_(age) {}
    [[nodiscard]] std::string_view name() const noexcept { return who_; }  // as given to acquire; may be empty
    [[nodiscard]] site where() const noexcept { return where_; }           // the call of acquire
    [[nodiscard]] int stripe() const noexcept { return stripe_; }
    [[nodiscard]] duration age() const noexcept { return age_; }  // zero unless the pool tracks ages
    // "checkout (server.cpp:42, 1200 ms)"
    [[nodiscard]] std::string to_string() const;

private:
    std::string_view who_;
    site where_;
    int stripe_;
    duration age_;
};

// After `after` failures to create in a row, creating is not tried for `first`, then twice as long after each further
// failure, up to `most`; whoever would need a new resource meanwhile gets the last error at once.
struct create_backoff {
    create_backoff() noexcept = default;
    create_backoff(std::uint32_t failures, duration shortest, duration longest) noexcept
        : after(failures), first(shortest), most(longest) {}
    std::uint32_t after = 0;  // 0: never
    duration first{};
    duration most{};
};

struct pool_options {
    explicit pool_options(std::uint32_t how_many, std::string_view label = "pool") : name(label), capacity(how_many) {}

    std::string name;
    std::uint32_t capacity;        // resources at most; at least 1
    std::uint32_t room = 0;        // how far resize() can grow; 0: the capacity
    std::uint32_t stripes = 0;  // 0: one per processor. At most the capacity; more than asked for when a stripe is full

    duration idle_ttl{};  // an idle resource unused for longer goes; zero: never
    duration max_lifetime{};  // a resource older than this goes when it is returned or idle; zero: never
    double lifetime_jitter = 0.1;  // each lives up to this fraction shorter, drawn once when it is created
    std::uint32_t warm = 0;  // keep at least so many resources alive
    duration check_after{};  // idle for longer: ask the check before it is given out; zero: always ask
    // Limits of awaitable functions. A task is cancelled at its limit; any other awaitable goes on, and close() waits for it.
    duration check_timeout{};  // a check that takes longer costs the resource
    duration create_timeout{};  // a creation that takes longer fails and its place is used again
    duration destroy_timeout{};  // a destruction that takes longer gives its place back at its limit
    duration leak_after{};  // somebody who holds a resource for longer is reported, once
    bool track_ages = false;  // read the clock at every acquire, for reports; implied by leak_after
    create_backoff backoff;

    executor_ref where;  // where awaitable creates and destroys resume, destroys run, and upkeep is done
    timer_service* timers = nullptr;  // for everything above that takes a while; needs `where`
    bool exact_clock = false;  // ask the timers for the time (virtual time); else the coarse clock is good enough
    node* parent = nullptr;  // the pool is a child of it: its stop refuses, its drain waits

    std::function<void(const pool_holder&)> on_leak;
    std::function<void(const pool_error&)> on_error;  // failures nobody waits for: destroys, checks, creations for nobody
};

// A moment in the life of a pool. free + idle + out + busy = capacity (+ over, after the capacity was reduced).
struct pool_stats {
    pool_stats() noexcept = default;
    std::uint32_t capacity = 0;
    std::uint32_t free = 0;
    std::uint32_t idle = 0;
    std::uint32_t out = 0;
    std::uint32_t busy = 0;  // being created or destroyed
    std::uint32_t over = 0;
    std::uint32_t waiting = 0;
    std::uint32_t late = 0;  // attempts past their limit, and destructions of what came late, that still run; about
    std::uint64_t created = 0;
    std::uint64_t destroyed = 0;
    std::uint64_t create_failures = 0;
    std::uint64_t handed_over = 0;  // given to a waiter
    std::uint64_t withdrawn = 0;  // waits that ended by cancel or deadline
    std::uint64_t checks_failed = 0;
    std::uint64_t expired = 0;  // idle for too long or too old
    std::uint64_t abandoned = 0;  // creations, checks and destructions whose limit has passed
    std::uint64_t leaks = 0;
};

}  // namespace roost::inline ROOST_ABI
