#pragma once

// The side of a pool's core that its parts see: the node, the data that they share, reports, and the end of the pool.
//
// A closed pool is drained when every slot is free, and has ended when there is no aside any more. An aside is work of the pool
// outside its slots: an attempt past its limit, the destruction of a resource in no slot, a report. Closing waits for asides. No
// user function is called after the last one.
//
// 5. Fields    settings: constant. Everything about the end: under the queue's lock
//
// 6. I8  a user function runs => its slot is out or busy, or asides_ counts it, or it was called by the user's own call

#include <roost/pool/detail/pool_counters.hpp>
#include <roost/pool/detail/pool_settings.hpp>
#include <roost/pool/detail/pool_stripes.hpp>
#include <roost/pool/detail/pool_waiter.hpp>
#include <roost/sync/detail/wait_list.hpp>
#include <roost/tree/detail/node.hpp>

#include <cstdint>
#include <exception>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

class pool_queue;

class pool_life : public node {
public:
    [[nodiscard]] const pool_settings& settings() const noexcept { return settings_; }
    [[nodiscard]] const pool_options& options() const noexcept { return settings_.options; }
    [[nodiscard]] pool_stripes& stripes() noexcept { return stripes_; }
    [[nodiscard]] pool_counters& counters() noexcept { return counters_; }

    // Returns stopped or closed if newcomers are refused, else nothing.
    [[nodiscard]] gift refusal() const noexcept;
    [[nodiscard]] std::exception_ptr make_error(gift why, pool_error::step operation, int stripe,
                                                std::exception_ptr cause) noexcept;
    // Passes a failure without a waiting acquire to on_error, or to the failure sink.
    void report(pool_error::step operation, int stripe, const std::exception_ptr& why) noexcept;

    // Requires that something else keeps the pool from ending.
    void begin_aside() noexcept;
    void end_aside() noexcept;

    // --- under the queue's lock ---------------------------------------------------------------------------------------------
    void add_asides(std::uint32_t count) noexcept { asides_ += count; }
    [[nodiscard]] bool is_drained() const noexcept { return is_drained_; }
    // Called when a slot became free or an aside ended. Notes in fx that the pool is drained, or has ended.
    void drain_if_done(pool_effects& fx) noexcept;

    // --- after the lock was released ----------------------------------------------------------------------------------------
    virtual void run_effects(pool_effects& fx) noexcept = 0;

    // --- implemented for the resource type ----------------------------------------------------------------------------------
    virtual void create_now(slot_base& s) = 0;  // synchronous; may throw
    virtual void start_create(slot_base& s, std::uint32_t attempt) noexcept = 0;  // awaitable
    virtual void destroy_now(slot_base& s, std::uint32_t attempt) noexcept = 0;  // ends with emptied()
    virtual bool check(slot_base& s) = 0;
    virtual void start_check(slot_base& s, std::uint32_t attempt) noexcept = 0;  // awaitable

protected:
    pool_life(const node_functions& table, pool_queue& queue, pool_options options, pool_kinds how, site made_at);
    pool_life(const node_functions& table, node& parent, pool_queue& queue, pool_options options, pool_kinds how,
              site made_at);
    ~pool_life() = default;

    // Returns false if the pool is closing already. Called under the queue's lock.
    [[nodiscard]] bool set_closing() noexcept { return !std::exchange(is_closing_, true); }
    [[nodiscard]] bool add_closer(waiter& w) noexcept;  // returns false if the pool has already ended
    [[nodiscard]] bool remove_closer(waiter& w, claim as) noexcept;

private:
    [[nodiscard]] std::exception_ptr error_at(int stripe, pool_error::step operation,
                                              const std::exception_ptr& why) const noexcept;

    pool_queue& queue_;
    pool_settings settings_;
    pool_stripes stripes_;
    bool is_closing_ = false;
    bool is_drained_ = false;
    bool has_ended_ = false;
    std::uint32_t asides_ = 0;
    wait_list closers_;
    pool_counters counters_;
};

// A timer of a part, which calls Run on the pool's executor.
template <class Part, void (Part::*Run)() noexcept>
class pool_alarm : public work, public timer {
public:
    pool_alarm(Part& part, const pool_life& life) noexcept
        : work(+[](work& w) noexcept { (static_cast<pool_alarm&>(w).part_.*Run)(); }),
          timer(+[](timer& t) noexcept {
              auto& self = static_cast<pool_alarm&>(t);
              post_or_fall_back(self.life_.options().where, self, self.life_.name());
          }),
          part_(part),
          life_(life) {}

private:
    Part& part_;
    const pool_life& life_;
};

}  // namespace roost::inline ROOST_ABI::detail
