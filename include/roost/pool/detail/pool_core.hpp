#pragma once

// The part of a pool that does not depend on the resource type. It wires the parts of a pool:
//
//   pool_life       the node, the settings, the stripes and the counters, reports, the end of the pool
//   pool_queue      the waiters, and the lock
//   pool_creation   creating, checking and destroying resources, the suspension of creating
//   pool_limits     the limits of creations, checks and destructions
//   pool_upkeep     stale and unfit resources, leaks, warm resources
//
// A part holds references to pool_life and to the parts whose functions it calls. A critical section of the queue's lock leaves
// its effects in a pool_effects, and the core runs them after the lock is released.

// Orders H1, T6: pool/detail/slot.hpp.

#include <roost/exec/detail/flight_recorder.hpp>
#include <roost/exec/detail/observing.hpp>
#include <roost/pool/detail/pool_creation.hpp>
#include <roost/pool/detail/pool_life.hpp>
#include <roost/pool/detail/pool_limits.hpp>
#include <roost/pool/detail/pool_meter.hpp>
#include <roost/pool/detail/pool_queue.hpp>
#include <roost/pool/detail/pool_upkeep.hpp>
#include <roost/sync/detail/holdings.hpp>

#include <cstdint>
#include <vector>

namespace roost::inline ROOST_ABI::detail {

class pool_core : public pool_life {
public:
    [[nodiscard]] pool_queue& queue() noexcept { return queue_; }
    [[nodiscard]] pool_creation& creation() noexcept { return creation_; }
    [[nodiscard]] pool_limits& limits() noexcept { return limits_; }
    [[nodiscard]] pool_upkeep& upkeep() noexcept { return upkeep_; }
    [[nodiscard]] pool_meter& meter() noexcept { return meter_; }
    [[nodiscard]] wait_target describe_wait() const noexcept { return {"pool", name()}; }

    // --- fast paths ----------------------------------------------------------------------------------------------------
    [[nodiscard]] slot_base* try_take() noexcept { return stripes().try_take(); }
    // As try_take(), but returns null if the resource must be examined first.
    [[nodiscard]] slot_base* try_take_unexamined() noexcept { return settings().examines ? nullptr : try_take(); }
    void give_back(slot_base& s) noexcept {
        note_release(s);
        if (settings().has_upkeep) [[unlikely]] {
            if (upkeep_.return_with_upkeep(s)) {
                return;
            }
        }
        s.where.store(site(), mo::relaxed);  // T6
        if (!stripes().try_put(s)) [[unlikely]] {
            queue_.put(s);
        }
    }
    void note_holder(slot_base& s, const char* holder, site where) noexcept {
        if (observing::any()) [[unlikely]] {
            show_acquired(s, where);
        }
        s.holder.store(holder, mo::relaxed);  // T6
        if (settings().tracks_ages) [[unlikely]] {
            s.since.store(settings().time_now(), mo::relaxed);  // T6
            s.where.store(where, mo::release);  // H1
            return;
        }
        s.where.store(where, mo::relaxed);  // T6
    }
    // Called when a holder gives its resource up, to the pool or to be destroyed.
    void note_release(const slot_base& s) const noexcept {
        if (observing::any()) [[unlikely]] {
            show_released(s);
        }
    }
    // For the flight recorder and the tracking of owners.
    [[gnu::noinline, gnu::cold]] void show_acquired(const slot_base& s, site where) const noexcept;
    [[gnu::noinline, gnu::cold]] void show_released(const slot_base& s) const noexcept;
    // Called when an acquire has to wait.
    void note_wait(site where) noexcept {
        if (flight_recorder::now() != 0) [[unlikely]] {
            flight_recorder::write(event_kind::pool_waited, this, flight_record::place(where),
                                   flight_recorder::name_of(*this));
        }
    }
    // Passes on the resource or right of a waiter that will never run.
    void pass_on(pool_waiter& w) noexcept;

    // --- life ------------------------------------------------------------------------------------------------------------
    void open() noexcept;  // called once after construction; requires that a pool with a parent is attached
    void begin_close() noexcept;
    [[nodiscard]] bool enqueue_closer(waiter& w) noexcept;  // closes; returns false if the close has already ended
    [[nodiscard]] bool cancel_closer(waiter& w, claim as) noexcept { return remove_closer(w, as); }
    [[nodiscard]] bool close_in_thread(time_point deadline) noexcept;
    std::uint32_t clear_idle() noexcept;
    std::uint32_t resize(std::uint32_t capacity) noexcept;  // returns the new capacity
    [[nodiscard]] pool_stats stats() noexcept;
    [[nodiscard]] std::vector<pool_holder> holders();
    // For holdings. Requires that `self` is a pool_core.
    [[nodiscard]] static std::uint32_t capacity_of(const void* self) noexcept;
    // Writes "4 of 4 out, oldest held 12.4 s by job 'export' (export.cpp:17)". Returns the length.
    [[nodiscard]] static std::size_t describe_owners(const void* self, char* text, std::size_t size) noexcept;

protected:
    pool_core(pool_options options, pool_kinds how, site made_at);
    pool_core(node& parent, pool_options options, pool_kinds how, site made_at);
    ~pool_core() = default;
    void bind_slot(unsigned index, slot_base& s) noexcept;
    virtual void free_self() noexcept = 0;  // implemented for the resource type

private:
    static void destroy_node(node& n) noexcept {
        auto& self = static_cast<pool_core&>(n);
        self.meter_.delist();
        self.free_self();
    }
    static void level_raised(node& n, level now) noexcept;
    static void describe(const node& n, node_description& d) noexcept;
    static const node_functions functions_table;
    void run_effects(pool_effects& fx) noexcept final;

    pool_queue queue_{*this, creation_};
    pool_limits limits_{*this, queue_, creation_};
    pool_creation creation_{*this, queue_, limits_};
    pool_upkeep upkeep_{*this, queue_, creation_};
    pool_meter meter_{*this};
};

// Misuse of an empty handle, a moved-from pool, a result without a resource.
[[noreturn]] void panic_empty_handle() noexcept;
[[noreturn]] void panic_moved_pool() noexcept;
[[noreturn]] void panic_nothing_acquired(wait_status why, const std::exception_ptr& error) noexcept;

}  // namespace roost::inline ROOST_ABI::detail
